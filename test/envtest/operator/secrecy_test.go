package operator_test

import (
	"net/http"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/envtest/harness"
)

var _ = Describe("Secrecy", func() {
	It("R34: logs no key, no rendered file and no request body, not even when writing them fails", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.operator.Wire.Fail(func(r *http.Request) bool {
			return r.Method == http.MethodPatch && (strings.Contains(r.URL.Path, "/secrets/designate-backendbind9") ||
				strings.HasSuffix(r.URL.Path, "/configmaps/"+v1alpha1.PoolsYAMLName))
		})
		w.configure(threePools())
		w.create(harness.Backend(w.namespace, 1))
		Eventually(w.backendCondition).WithArguments(v1alpha1.ConditionReady).Should(HaveField("Reason", v1alpha1.ReasonNoServersYet))
		Eventually(func() string { return string(operatorLog.Contents()) }).Should(ContainSubstring("failed by the test"))
		w.operator.Wire.Fail(nil)
		w.waitReady("default", "edge", "gold")

		// What the specs before this one logged is searched too.
		var secrets corev1.SecretList
		Expect(kube.List(w, &secrets)).To(Succeed())
		logged, searched := string(operatorLog.Contents()), 0
		secretText := regexp.MustCompile(`secret "([^"]+)"`)
		for i := range secrets.Items {
			for _, content := range secrets.Items[i].Data {
				if match := secretText.FindSubmatch(content); match != nil {
					searched++
					Expect(strings.Contains(logged, string(match[1]))).To(BeFalse(), "a key of %s is in the log", secrets.Items[i].Name)
				}
			}
		}
		Expect(searched).To(BeNumerically(">=", 12))
		for _, content := range []string{"rndc_key_file", "allow-new-zones", "hmac-sha256", `"bindReplicas"`} {
			Expect(strings.Contains(logged, content)).To(BeFalse(), "%s is in the log", content)
		}
	})
})
