package operator_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/test/designate/running"
)

const reachable = "True " + v1alpha1.ReasonReachable

// suffer lets something happen to Designate that a world sees as a reason, and mends it. What the statuses tell of zones is
// never another number than the one from before, and all is well again without an event.
func suffer(w *world, reason string, harm, mend func(context.Context)) {
	GinkgoHelper()
	zones := total(w, running.DefaultPoolID)
	Expect(zones).To(BeNumerically(">=", 2), "a spec that could not tell a loss from nothing")
	w.eventuallyZones("default", zones)
	w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, reachable)
	mended := false
	DeferCleanup(func(ctx context.Context) {
		if !mended {
			mend(ctx)
		}
	})
	harm(w)
	w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, "False "+reason)
	Expect(w.condition(v1alpha1.ConditionReady)).NotTo(HavePrefix("True"))
	Expect(w.pool("default").Status.Zones).To(HaveField("Total", zones), "while it lasts")
	mend(w)
	mended = true
	w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, reachable)
	for _, number := range w.numbers("default") {
		Expect(number).To(Equal(zones), "every number that was ever told")
	}
}

var _ = Describe("R1 R2 R4 R7: a part of the cloud fails, the number of zones stays what it was, and all is well again by itself", Ordered, Serial, func() {
	BeforeAll(func(ctx context.Context) { makeZones(ctx, 2) })

	stop := func(service string) (harm, mend func(context.Context)) {
		return func(ctx context.Context) { Expect(stack.Stop(ctx, service)).To(Succeed()) },
			func(ctx context.Context) { Expect(stack.Start(ctx, service)).To(Succeed()) }
	}
	freeze := func(service string) (harm, mend func(context.Context)) {
		return func(ctx context.Context) { Expect(stack.Freeze(ctx, service)).To(Succeed()) },
			func(ctx context.Context) { Expect(stack.Thaw(ctx, service)).To(Succeed()) }
	}
	DescribeTable("when",
		func(ctx context.Context, how func(string) (func(context.Context), func(context.Context)), service string) {
			harm, mend := how(service)
			if service != running.Keystone {
				suffer(newWorld(ctx, at(stack.NoAuthURL)), v1alpha1.ReasonDesignateUnreachable, harm, mend)
				return
			}
			w := newWorld(ctx, throughKeystone(), clouds(stack.Admin, running.Region))
			suffer(w, v1alpha1.ReasonDesignateUnreachable, func(ctx context.Context) {
				harm(ctx)
				w.touchClouds()
			}, mend)
		},
		Entry("Designate's API is down", stop, running.NoAuthAPI),
		Entry("Designate's API is frozen", freeze, running.NoAuthAPI),
		Entry("central is down", stop, running.Central),
		Entry("central is frozen", freeze, running.Central),
		Entry("the database is frozen", freeze, running.MariaDB),
		Entry("RabbitMQ is frozen", freeze, running.RabbitMQ),
		Entry("Keystone is down", stop, running.Keystone),
		Entry("Keystone is frozen", freeze, running.Keystone),
	)

	It("when the operator is started anew meanwhile", func(ctx context.Context) {
		w := newWorld(ctx, at(stack.NoAuthURL))
		harm, mend := stop(running.NoAuthAPI)
		suffer(w, v1alpha1.ReasonDesignateUnreachable, func(ctx context.Context) {
			harm(ctx)
			w.stopOperator()
			w.startOperator()
		}, mend)
	})

	It("R36: and a pool beside it can be scaled at once all the same", func(ctx context.Context) {
		w := newWorld(ctx, at(stack.NoAuthURL))
		harm, mend := freeze(running.NoAuthAPI)
		suffer(w, v1alpha1.ReasonDesignateUnreachable, func(ctx context.Context) {
			harm(ctx)
			backend := w.backend()
			base := backend.DeepCopy()
			backend.Spec.DefaultPool.BINDReplicas = 3
			Expect(kube.Patch(ctx, backend, client.MergeFrom(base))).To(Succeed())
			Eventually(func() int { return len(w.pool("default").Status.Servers) }).WithContext(ctx).WithTimeout(requestTimeout).Should(Equal(3))
		}, mend)
	})
})

var _ = Describe("Credentials", Ordered, Serial, func() {
	BeforeAll(func(ctx context.Context) { makeZones(ctx, 2) })

	replaceClouds := func(w *world, who running.Credentials) {
		GinkgoHelper()
		secret := clouds(who, running.Region)
		secret.Namespace = w.namespace
		Expect(kube.Update(w, secret)).To(Succeed())
	}
	wrong := func() running.Credentials {
		who := stack.Admin
		who.Password = "not-the-password"
		return who
	}

	It("that are refused are told, and new ones are taken up by themselves", func(ctx context.Context) {
		w := newWorld(ctx, throughKeystone(), clouds(stack.Admin, running.Region))
		suffer(w, v1alpha1.ReasonCredentialsRefused,
			func(context.Context) { replaceClouds(w, wrong()) },
			func(context.Context) { replaceClouds(w, stack.Admin) })
	})

	It("of somebody who is no administrator are refused", func(ctx context.Context) {
		w := newWorld(ctx, throughKeystone(), clouds(stack.Member, running.Region))
		w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, "False "+v1alpha1.ReasonCredentialsRefused)
		Expect(w.numbers("default")).To(BeEmpty(), "no number of the zones of one project")
	})

	It("whose Secret is deleted are told, and one that is made anew is taken up by itself", func(ctx context.Context) {
		w := newWorld(ctx, throughKeystone(), clouds(stack.Admin, running.Region))
		suffer(w, v1alpha1.ReasonCredentialsUnusable,
			func(ctx context.Context) {
				Expect(kube.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: secretName}})).To(Succeed())
			},
			func(ctx context.Context) {
				secret := clouds(stack.Admin, running.Region)
				secret.Namespace = w.namespace
				Expect(kube.Create(ctx, secret)).To(Succeed())
			})
	})

	It("whose password is rotated go on working once the Secret has the new one", func(ctx context.Context) {
		w := newWorld(ctx, throughKeystone(), clouds(stack.Admin, running.Region))
		rotated := stack.Admin
		rotated.Password = "another-password"
		DeferCleanup(func(ctx context.Context) {
			token, err := stack.Token(ctx, rotated)
			Expect(err).NotTo(HaveOccurred())
			body := map[string]any{"user": map[string]any{"password": stack.Admin.Password}}
			Expect(stack.Identity(token).Call(ctx, "PATCH", "/users/"+stack.Admin.UserID, body, nil)).To(Succeed())
		})
		// Keystone revokes the tokens of a user whose password changes.
		suffer(w, v1alpha1.ReasonCredentialsRefused,
			func(ctx context.Context) {
				Expect(stack.SetPassword(ctx, stack.Admin.UserID, rotated.Password)).To(Succeed())
				w.touchClouds()
			},
			func(context.Context) { replaceClouds(w, rotated) })
	})

	It("R34: and what they are is nowhere in the statuses", func(ctx context.Context) {
		w := newWorld(ctx, throughKeystone(), clouds(wrong(), running.Region))
		w.eventuallyCondition(v1alpha1.ConditionDesignateReachable, "False "+v1alpha1.ReasonCredentialsRefused)
		for _, c := range w.backend().Status.Conditions {
			Expect(c.Message).NotTo(ContainSubstring(wrong().Password))
		}
	})
})
