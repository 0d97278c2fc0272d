package backend

import (
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/controllers/acceptance"
	"github.com/designate-pools/designate-pool-operator/controllers/builders"
	"github.com/designate-pools/designate-pool-operator/controllers/ledger"
	"github.com/designate-pools/designate-pool-operator/controllers/removal"
	"github.com/designate-pools/designate-pool-operator/controllers/serving"
	"github.com/designate-pools/designate-pool-operator/controllers/zones"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

const namespace = "dns"

// scheme knows our kinds and Kubernetes' own.
func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func serverWith(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).WithReturnManagedFields().Build()
}

func backend() *v1alpha1.DesignateBackend {
	return &v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName, UID: "uid-backend", Generation: 1},
		Spec: v1alpha1.DesignateBackendSpec{
			Primaries: []v1alpha1.Primary{{Address: "192.0.2.53", Port: 5354}},
			Designate: v1alpha1.Designate{DefaultPoolID: "794ccc2c-d751-44fe-b57f-8894c9f5c842", RNDCKeyDirectory: "/etc/designate/rndc-keys"},
		},
	}
}

func spec(replicas int32) v1alpha1.DesignatePoolSpec {
	return v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{
		BINDReplicas: replicas, NSRecords: []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
	}}
}

// pool is a DesignatePool that was created some seconds after the first.
func pool(name string, age int64) v1alpha1.DesignatePool {
	return v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Unix(1_700_000_000+age, 0),
		},
		Spec: spec(1),
	}
}

// entry is the ledger's of such a pool, with its servers listed, joined, and numbered from a key.
func entry(name string, index, replicas, key int32) ledger.Pool {
	p := ledger.Pool{
		UID: types.UID("uid-" + name), Object: name, Name: name, ID: conversion.PoolID(namespace, name), Index: index, Accepted: spec(replicas),
	}
	for ordinal := range replicas {
		p.Servers = append(p.Servers, ledger.Server{
			Ordinal: ordinal, RNDCKey: key + ordinal, Address: fmt.Sprintf("10.96.%d.%d", index, ordinal), Joined: true,
		})
	}
	return p
}

// deployed are the objects that run the servers of an entry, open to clients, in MultiPool mode.
func deployed(e ledger.Pool) objects {
	result := objects{services: map[string]*corev1.Service{}, pods: map[string]*corev1.Pod{}}
	labels := map[string]string{
		v1alpha1.LabelPool: e.Object, v1alpha1.LabelPoolUID: string(e.UID), v1alpha1.LabelPoolIndex: fmt.Sprint(e.Index),
	}
	name := builders.StatefulSetName(v1alpha1.MultiPool, e.Index)
	result.statefulSets = []appsv1.StatefulSet{{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Annotations: map[string]string{
			v1alpha1.AnnotationPoolName: e.Name, v1alpha1.AnnotationPoolID: e.ID,
		}},
		Spec: appsv1.StatefulSetSpec{Replicas: ptr.To(e.Accepted.BINDReplicas)},
	}}
	of := func(server ledger.Server, role string) map[string]string {
		all := map[string]string{v1alpha1.LabelOrdinal: fmt.Sprint(server.Ordinal), v1alpha1.LabelServiceRole: role}
		maps.Copy(all, labels)
		return all
	}
	for _, server := range e.Servers {
		control, open := builders.ControlServiceName(name, server.Ordinal), builders.ClientServiceName(e.Index, server.Ordinal)
		result.services[control] = &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: control, Labels: of(server, v1alpha1.ServiceRoleControl),
				Annotations: map[string]string{v1alpha1.AnnotationRNDCKey: fmt.Sprint(server.RNDCKey)}},
			Spec: corev1.ServiceSpec{ClusterIP: server.Address},
		}
		result.services[open] = &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: open, Labels: of(server, v1alpha1.ServiceRoleClient)},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"leads": "somewhere"}},
		}
		pod := builders.PodName(name, server.Ordinal)
		result.pods[pod] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod, Labels: labels},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
	}
	return result
}

// together are several sets of objects in one.
func together(sets ...objects) objects {
	result := objects{services: map[string]*corev1.Service{}, pods: map[string]*corev1.Pod{}}
	for _, set := range sets {
		result.statefulSets = append(result.statefulSets, set.statefulSets...)
		maps.Copy(result.services, set.services)
		maps.Copy(result.pods, set.pods)
	}
	return result
}

// inForce is the scope of a namespace in MultiPool mode with a ledger of these entries.
func inForce(entries ...ledger.Pool) *scope {
	return &scope{
		namespace: namespace, backend: backend(), wantedMode: v1alpha1.MultiPool, facts: ledger.Facts{Mode: v1alpha1.MultiPool},
		stored: &ledger.Stored{Ledger: ledger.Ledger{Version: 1, Mode: v1alpha1.MultiPool, Pools: entries}},
	}
}

// facts gathers those of a scope as a pass does, of which nothing is gone.
func (s *scope) factsOfAll() ledger.Facts {
	s.verdicts = acceptance.Judge(s.pools, acceptance.Claims(s.objects.statefulSets, s.stored.Pools))
	s.judge(&removal.Namespace{
		Backend: s.backend, Pools: s.pools, Ledger: &s.stored.Ledger, LedgerLost: s.ledgerLost, View: s.zones, Now: s.now,
		ListedSince: func(zones.Intent) *zones.Listing { return s.zones.Fresh(s.now) },
		Serving:     func(types.UID) serving.View { return serving.View{} },
	})
	s.makeFacts(nil)
	return s.facts
}
