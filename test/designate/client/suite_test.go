// Package client holds controllers/designate against the real Designate.
package client

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

var stack *running.Stack

func TestClient(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The client of Designate")
}

var _ = BeforeSuite(func() {
	var err error
	stack, err = running.FromEnvironment()
	Expect(err).NotTo(HaveOccurred())
})
