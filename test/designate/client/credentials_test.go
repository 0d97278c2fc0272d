package client

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/designate"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

// newAdministrator is a user with the role admin in a project, whom a spec may do anything to.
func newAdministrator(ctx context.Context) running.Credentials {
	GinkgoHelper()
	token, err := stack.Token(ctx, stack.Admin)
	Expect(err).NotTo(HaveOccurred())
	identity := stack.Identity(token)
	made := running.Credentials{User: "u-" + uuid.NewString(), Password: uuid.NewString(), Project: stack.Admin.Project}
	var created struct{ User struct{ ID string } }
	Expect(identity.Call(ctx, http.MethodPost, "/users",
		object{"user": object{"name": made.User, "password": made.Password, "domain_id": "default"}}, &created)).To(Succeed())
	made.UserID = created.User.ID
	DeferCleanup(func(ctx context.Context) {
		Expect(identity.Call(ctx, http.MethodDelete, "/users/"+made.UserID, nil, nil)).To(Succeed())
	})
	var found struct {
		Roles, Projects []struct{ ID string }
	}
	Expect(identity.Call(ctx, http.MethodGet, "/roles?name=admin", nil, &found)).To(Succeed())
	Expect(identity.Call(ctx, http.MethodGet, "/projects?name="+made.Project, nil, &found)).To(Succeed())
	Expect(found.Roles).To(HaveLen(1))
	Expect(found.Projects).To(HaveLen(1))
	Expect(identity.Call(ctx, http.MethodPut,
		"/projects/"+found.Projects[0].ID+"/users/"+made.UserID+"/roles/"+found.Roles[0].ID, nil, nil)).To(Succeed())
	return made
}

var _ = Describe("Credentials", func() {
	DescribeTable("of an administrator list the zones of all projects, the pools and the TSIG keys, which are",
		func(ctx SpecContext, access func() designate.Access) {
			mine, err := stack.CreateZone(ctx, uuid.NewString(), "z"+uuid.NewString()+".example.org.", nil)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(stack.RemoveZone, mine.ID)
			client := connect(ctx, access(), 0)
			Expect(zones(ctx, client)).To(ContainElement(mine.ID))
			pools, err := client.Pools(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(pools).To(ContainElement(HaveField("ID", running.DefaultPoolID)))
			_, err = client.TSIGKeys(ctx)
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("none, where the API believes its headers", noAuth),
		Entry("a password, in a project", func() designate.Access { return cloud(inProject(stack.Admin), nil) }),
		Entry("a password, in the whole system", func() designate.Access {
			auth := user(stack.Admin)
			auth["system_scope"] = "all"
			return cloud(auth, nil)
		}),
		Entry("an application credential", func() designate.Access {
			return cloud(object{
				"application_credential_id": stack.Application.ID, "application_credential_secret": stack.Application.Secret,
			}, object{"auth_type": "v3applicationcredential"})
		}),
	)

	DescribeTable("that cannot do are told apart when connecting:",
		func(ctx SpecContext, access func() designate.Access, kind designate.Kind) {
			_, err := designate.Connect(ctx, access(), designate.Limits{})
			Expect(err).To(beOfKind(kind))
		},
		Entry("a wrong password", func() designate.Access {
			wrong := stack.Admin
			wrong.Password = "wrong"
			return cloud(inProject(wrong), nil)
		}, designate.Unauthorised),
		Entry("a user that there is not", func() designate.Access {
			wrong := stack.Admin
			wrong.User = "nobody"
			return cloud(inProject(wrong), nil)
		}, designate.Unauthorised),
		Entry("a wrong application credential", func() designate.Access {
			return cloud(object{"application_credential_id": stack.Application.ID, "application_credential_secret": "wrong"}, nil)
		}, designate.Unauthorised),
		Entry("a token without a scope, which has no catalogue", func() designate.Access { return cloud(user(stack.Admin), nil) },
			designate.Unusable),
		Entry("a region that there is not", func() designate.Access {
			return cloud(inProject(stack.Admin), object{"region_name": "nowhere"})
		}, designate.Unusable),
	)

	DescribeTable("of somebody else are refused by Designate:",
		func(ctx SpecContext, access func() designate.Access) {
			client := connect(ctx, access(), 0)
			_, err := zones(ctx, client)
			Expect(err).To(beOfKind(designate.Unauthorised))
			_, err = client.Pools(ctx)
			Expect(err).To(beOfKind(designate.Unauthorised))
			Expect(client.DeletePool(ctx, uuid.NewString())).To(beOfKind(designate.Unauthorised))
		},
		Entry("a member of a project", func() designate.Access { return cloud(inProject(stack.Member), nil) }),
		Entry("headers, where the API asks Keystone", func() designate.Access { return designate.Access{Endpoint: stack.URL} }),
	)

	It("are used again when the token has been revoked", func(ctx SpecContext) {
		api := onlookAt(stack.URL)
		client := connect(ctx, cloud(inProject(newAdministrator(ctx)), object{"dns_endpoint_override": api.URL}), 0)
		_, err := zones(ctx, client)
		Expect(err).NotTo(HaveOccurred())
		before, revoked := api.seen()
		Expect(stack.Revoke(ctx, revoked)).To(Succeed())
		_, err = zones(ctx, client)
		Expect(err).NotTo(HaveOccurred())
		requests, renewed := api.seen()
		Expect(renewed).NotTo(Equal(revoked))
		Expect(requests).To(HaveLen(2*len(before)+1), "the pages twice, and one request that was refused")
	})

	It("that were rotated are Unauthorised, and taken up from the Secret", func(ctx SpecContext) {
		who := newAdministrator(ctx)
		secret := func() *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "clouds"},
				Data:       map[string][]byte{"clouds.yaml": cloud(inProject(who), nil).CloudsYAML},
			}
		}
		backend := &v1alpha1.DesignateBackend{ObjectMeta: metav1.ObjectMeta{Namespace: "dns"}}
		backend.Spec.Designate.Access = &v1alpha1.DesignateAccess{
			CloudCredentialsRef: &v1alpha1.CloudCredentialsRef{SecretName: "clouds", CloudName: "dns"},
		}
		cluster := fake.NewClientBuilder().WithObjects(secret()).Build()
		connections := designate.NewConnections(cluster, designate.Limits{})
		DeferCleanup(connections.Forget, "dns")
		list := func() error {
			client, err := connections.Client(ctx, backend)
			if err != nil {
				return err
			}
			_, err = zones(ctx, client)
			return err
		}
		Expect(list()).To(Succeed())
		rotated := who
		rotated.Password = uuid.NewString()
		Expect(stack.SetPassword(ctx, who.UserID, rotated.Password)).To(Succeed())
		Expect(list()).To(beOfKind(designate.Unauthorised))
		Expect(list()).To(beOfKind(designate.Unauthorised), "asked again")
		who = rotated
		Expect(cluster.Update(ctx, secret())).To(Succeed())
		Expect(list()).To(Succeed())
	})
})
