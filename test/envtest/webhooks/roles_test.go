package webhooks_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// may asks whether somebody with a cluster role in a namespace may do something to one of our kinds.
func may(ctx context.Context, namespace, user, verb, resource, subresource string) func() (bool, error) {
	return func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: "designate.openstack.org", Namespace: namespace,
				Verb: verb, Resource: resource, Subresource: subresource,
			},
		}}
		err := kube.Create(ctx, review)
		return review.Status.Allowed, err
	}
}

var _ = DescribeTable("people with a role of Kubernetes' own", func(ctx context.Context, role string, can, cannot [][3]string) {
	namespace := newNamespace(ctx)
	Expect(kube.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: role + "-person"}},
	})).To(Succeed())
	for _, one := range can {
		Eventually(may(ctx, namespace, role+"-person", one[0], one[1], one[2])).Should(BeTrue(), "%v", one)
	}
	for _, one := range cannot {
		Expect(may(ctx, namespace, role+"-person", one[0], one[1], one[2])()).To(BeFalse(), "%v", one)
	}
},
	Entry("see with view", "view",
		[][3]string{{"list", "designatepools", ""}, {"get", "designatebackends", "status"}},
		[][3]string{{"update", "designatepools", ""}, {"update", "designatepools", "scale"}}),
	Entry("run pools with edit", "edit",
		[][3]string{
			{"create", "designatepools", ""}, {"delete", "designatepools", ""},
			{"update", "designatepools", "scale"}, {"patch", "designatebackends", ""},
		},
		[][3]string{{"create", "designatebackends", ""}, {"delete", "designatebackends", ""}, {"update", "designatepools", "status"}}),
	Entry("set up and take down with admin", "admin",
		[][3]string{{"create", "designatebackends", ""}, {"delete", "designatebackends", ""}, {"create", "designatepools", ""}},
		[][3]string{{"update", "designatebackends", "status"}}),
)
