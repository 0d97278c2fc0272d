package webhooks_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/webhooks"
)

var _ = Describe("the operator's webhooks", func() {
	It("are called with an authority that outlives them, and serve a certificate that is renewed often", func(ctx context.Context) {
		var configuration admissionregistrationv1.ValidatingWebhookConfiguration
		Expect(kube.Get(ctx, client.ObjectKey{Name: webhooks.ConfigurationName}, &configuration)).To(Succeed())
		authorities := x509.NewCertPool()
		for _, webhook := range configuration.Webhooks {
			Expect(authorities.AppendCertsFromPEM(webhook.ClientConfig.CABundle)).To(BeTrue(), webhook.Name)
		}
		served := servedCertificate()
		for _, host := range []string{"localhost", "designate-pool-operator-webhook.designate-pool-operator.svc"} {
			_, err := served.Verify(x509.VerifyOptions{Roots: authorities, DNSName: host})
			Expect(err).NotTo(HaveOccurred(), host)
		}
		Expect(time.Until(served.NotAfter)).To(BeNumerically("<", 100*24*time.Hour))
	})

	It("answer all the time while their certificate is renewed", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		before := servedCertificate()
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: certificateSecret}}
		Expect(kube.Patch(ctx, secret, client.RawPatch(types.MergePatchType,
			[]byte(`{"data":{"tls.crt":null,"tls.key":null}}`)))).To(Succeed())
		// A dry run asks the webhook and leaves nothing behind.
		asks := 0
		Eventually(ctx, func(g Gomega) {
			list := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "designate-multipool-config"},
				Data:       map[string]string{"pools": "nonsense"},
			}
			err := kube.Create(ctx, list, client.DryRunAll)
			Expect(err).To(MatchError(ContainSubstring("denied the request")))
			asks++
			g.Expect(servedCertificate().Equal(before)).To(BeFalse())
		}).WithPolling(20 * time.Millisecond).Should(Succeed())
		Expect(asks).To(BeNumerically(">", 1), "the certificate had been renewed before anybody asked")
	})

	It("answer with metrics to those alone who may have them", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(metricsStatus("")).To(Equal(http.StatusUnauthorized))
		Expect(metricsStatus(tokenOf(ctx, namespace, "somebody"))).To(Equal(http.StatusForbidden))

		collector := tokenOf(ctx, namespace, "collector")
		Expect(kube.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "collector-"},
			RoleRef: rbacv1.RoleRef{
				APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "designate-pool-operator-metrics-reader",
			},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "collector"}},
		})).To(Succeed())
		// The operator remembers a refusal for half a minute, so it is not asked before the binding counts.
		Eventually(ctx, func() (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:                  "system:serviceaccount:" + namespace + ":collector",
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
			}}
			err := kube.Create(ctx, review)
			return review.Status.Allowed, err
		}).Should(BeTrue())
		Expect(metricsStatus(collector)).To(Equal(http.StatusOK))
	})
})

var _ = Describe("an outage of the operator", Serial, func() {
	It("holds up the list of pools and nobody else's ConfigMaps, and leaves no lease behind", func(ctx context.Context) {
		namespace, doomed := newNamespace(ctx), newNamespace(ctx)
		for _, one := range []string{namespace, doomed} {
			mustKubectl(ctx, listOf("default"), "create", "-n", one, "-f", "-")
		}
		certificate := servedCertificate()
		operator.stop()
		DeferCleanup(func(ctx context.Context) {
			operator.start(ctx)
			Expect(servedCertificate().Equal(certificate)).To(BeTrue(), "a restart changed the certificate")
		})

		var lease coordinationv1.Lease
		Expect(kube.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: operatorName}, &lease)).To(Succeed())
		Expect(lease.Spec.HolderIdentity).To(HaveValue(BeEmpty()))

		mustKubectl(ctx, "", "create", "configmap", "another", "-n", namespace)
		mustKubectl(ctx, "", "label", "configmap", "another", "team=dns", "-n", namespace)
		output, err := kubectl(ctx, listOf("default", "edge"), "apply", "-n", namespace, "-f", "-")
		Expect(err).To(HaveOccurred(), output)
		Expect(output).To(ContainSubstring("failed calling webhook"))
		deleteCollection(ctx, namespace)

		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}
		Expect(kube.Delete(ctx, object)).To(Succeed())
		Eventually(ctx, func() bool {
			return apierrors.IsNotFound(kube.Get(ctx, client.ObjectKeyFromObject(object), object))
		}).Should(BeTrue())
	})
})

// servedCertificate is what the webhook server shows at the moment.
func servedCertificate() *x509.Certificate {
	GinkgoHelper()
	address := fmt.Sprintf("localhost:%d", operator.webhook)
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	Expect(err).NotTo(HaveOccurred())
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0]
}

// tokenOf makes a service account and lets it in.
func tokenOf(ctx context.Context, namespace, name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Expect(kube.Create(ctx, account)).To(Succeed())
	token := &authenticationv1.TokenRequest{}
	Expect(kube.SubResource("token").Create(ctx, account, token)).To(Succeed())
	return token.Status.Token
}

// metricsStatus is the status code with which the bearer of a token is answered.
func metricsStatus(token string) int {
	GinkgoHelper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	url := fmt.Sprintf("https://127.0.0.1:%d/metrics", operator.metrics)
	request, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	return response.StatusCode
}
