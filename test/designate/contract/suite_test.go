// Package contract holds what the operator relies on when it applies pools.yaml against the real Designate. What it says is
// what Designate does, not what it should do: a spec that fails on a newer Designate tells what to look at.
package contract

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

var stack *running.Stack

func TestContract(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "What designate-manage pool update does")
}

var _ = BeforeSuite(func() {
	var err error
	stack, err = running.FromEnvironment()
	Expect(err).NotTo(HaveOccurred())
})
