package webhooks

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// now is when a review takes place.
var now = time.Unix(2_000_000_000, 0)

const (
	namespace = "dns"
	operator  = "system:serviceaccount:designate-pool-operator:designate-pool-operator"
	person    = "alice"
)

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// change is what somebody wants to do to an object: create it when before is nil, delete it when after is.
type change struct {
	by            string // person when empty
	before, after client.Object
}

func (c change) request(t *testing.T) admission.Request {
	t.Helper()
	request := admissionv1.AdmissionRequest{
		UID:       "review",
		Namespace: namespace,
		UserInfo:  authenticationv1.UserInfo{Username: c.by},
		Operation: admissionv1.Update,
		Object:    encode(t, c.after),
		OldObject: encode(t, c.before),
	}
	if c.by == "" {
		request.UserInfo.Username = person
	}
	switch {
	case c.before == nil:
		request.Operation, request.Name = admissionv1.Create, c.after.GetName()
	case c.after == nil:
		// Without a name, as when a collection is deleted.
		request.Operation = admissionv1.Delete
	default:
		request.Name = c.after.GetName()
	}
	return admission.Request{AdmissionRequest: request}
}

func encode(t *testing.T, object client.Object) runtime.RawExtension {
	t.Helper()
	if object == nil {
		return runtime.RawExtension{}
	}
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

// verdict is what a webhook is expected to say.
type verdict struct {
	denied   string   // the exact text, or
	mentions []string // what the text of a denial holds
	warns    []string // what the warnings hold, one each, in order
}

func (want verdict) check(t *testing.T, got admission.Response) {
	t.Helper()
	var message string
	if got.Result != nil {
		message = got.Result.Message
	}
	wantDenied := want.denied != "" || len(want.mentions) > 0
	if got.Allowed == wantDenied {
		t.Fatalf("allowed: %t, want %t; message: %s", got.Allowed, !wantDenied, message)
	}
	if want.denied != "" && message != want.denied {
		t.Errorf("denied with\n  %s\nwant\n  %s", message, want.denied)
	}
	for _, mention := range want.mentions {
		if !strings.Contains(message, mention) {
			t.Errorf("denied with %q, which does not mention %q", message, mention)
		}
	}
	if len(got.Warnings) != len(want.warns) {
		t.Fatalf("%d warnings, want %d: %q", len(got.Warnings), len(want.warns), got.Warnings)
	}
	for i, mention := range want.warns {
		if !strings.Contains(got.Warnings[i], mention) {
			t.Errorf("warning %q does not hold %q", got.Warnings[i], mention)
		}
	}
}

// ask puts a change to the webhook at a path, in a namespace that holds the stored objects.
func ask(t *testing.T, path string, change change, stored ...client.Object) admission.Response {
	t.Helper()
	return askReader(t, path, change, storing(t, stored...))
}

func askReader(t *testing.T, path string, change change, reader client.Reader) admission.Response {
	t.Helper()
	hook, served := hooks(reader, testScheme(t), operator, testingclock.NewFakePassiveClock(now))[path]
	if !served {
		t.Fatalf("nothing is served at %s", path)
	}
	return hook.Handle(context.Background(), change.request(t))
}

func storing(t *testing.T, stored ...client.Object) client.WithWatch {
	t.Helper()
	hasNamespace := false
	for _, object := range stored {
		if _, ok := object.(*corev1.Namespace); ok {
			hasNamespace = true
		}
	}
	if !hasNamespace {
		stored = append(stored, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	return fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(stored...).Build()
}

func terminatingNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Finalizers: []string{"kubernetes"}, DeletionTimestamp: &metav1.Time{Time: time.Unix(1000, 0)},
	}}
}

// poolBuilder builds DesignatePools for tests.
type poolBuilder struct{ pool v1alpha1.DesignatePool }

func makePool(name string) *poolBuilder {
	return &poolBuilder{v1alpha1.DesignatePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name),
			CreationTimestamp: metav1.Unix(100, 0),
		},
		Spec: v1alpha1.DesignatePoolSpec{PoolSettings: v1alpha1.PoolSettings{
			Attributes:   map[string]string{"service_tier": name},
			BINDReplicas: 1,
			NSRecords:    []v1alpha1.NSRecord{{Hostname: "ns1.example.org.", Priority: 1}},
		}},
	}}
}

func (b *poolBuilder) PoolName(name string) *poolBuilder { b.pool.Spec.PoolName = name; return b }
func (b *poolBuilder) Replicas(n int32) *poolBuilder     { b.pool.Spec.BINDReplicas = n; return b }
func (b *poolBuilder) Created(second int64) *poolBuilder {
	b.pool.CreationTimestamp = metav1.Unix(second, 0)
	return b
}
func (b *poolBuilder) FromBridge() *poolBuilder {
	b.pool.Labels = map[string]string{v1alpha1.LabelSource: v1alpha1.SourceBridge}
	return b
}
func (b *poolBuilder) Annotated(key, value string) *poolBuilder {
	b.pool.Annotations = map[string]string{key: value}
	return b
}

// Zones makes the pool one with an index, in which Designate listed zones a while ago.
func (b *poolBuilder) Zones(ago time.Duration, names ...string) *poolBuilder {
	b.pool.Status.Index = ptr.To[int32](1)
	b.pool.Status.Zones = &v1alpha1.PoolZones{Total: int32(len(names)), Names: names, ObservedAt: metav1.NewTime(now.Add(-ago))}
	return b
}
func (b *poolBuilder) Finalizers(names ...string) *poolBuilder { b.pool.Finalizers = names; return b }
func (b *poolBuilder) Deleting() *poolBuilder {
	b.pool.DeletionTimestamp = &metav1.Time{Time: time.Unix(1000, 0)}
	return b.Finalizers(v1alpha1.PoolFinalizer)
}
func (b *poolBuilder) Obj() *v1alpha1.DesignatePool { return b.pool.DeepCopy() }

// backendBuilder builds DesignateBackends for tests.
type backendBuilder struct{ backend v1alpha1.DesignateBackend }

func makeBackend() *backendBuilder {
	return &backendBuilder{v1alpha1.DesignateBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.BackendName},
		Spec: v1alpha1.DesignateBackendSpec{
			Primaries:   []v1alpha1.Primary{{Address: "192.0.2.10", Port: 5354}},
			DefaultPool: makePool("default").Obj().Spec.PoolSettings,
			BIND:        v1alpha1.BINDTemplate{Image: "bind:9.18", ControlCIDRs: []string{"10.0.0.0/8"}},
			Designate: v1alpha1.Designate{
				DefaultPoolID: "794ccc2c-d751-44fe-b57f-8894c9f5c842", RNDCKeyDirectory: "/etc/designate/rndc-keys",
			},
		},
	}}
}

func (b *backendBuilder) ControlCIDRs(cidrs ...string) *backendBuilder {
	b.backend.Spec.BIND.ControlCIDRs = cidrs
	return b
}
func (b *backendBuilder) Running(mode v1alpha1.Mode, ready int32) *backendBuilder {
	b.backend.Status.Mode = mode
	b.backend.Status.Servers = &v1alpha1.Count{Total: ready, Ready: ready}
	return b
}
func (b *backendBuilder) PollInterval(every time.Duration) *backendBuilder {
	b.backend.Spec.Designate.PollInterval = &metav1.Duration{Duration: every}
	return b
}
func (b *backendBuilder) Finalizers(names ...string) *backendBuilder {
	b.backend.Finalizers = names
	return b
}
func (b *backendBuilder) Deleting() *backendBuilder {
	b.backend.DeletionTimestamp = &metav1.Time{Time: time.Unix(1000, 0)}
	return b.Finalizers(v1alpha1.BackendFinalizer)
}
func (b *backendBuilder) Obj() *v1alpha1.DesignateBackend { return b.backend.DeepCopy() }

// poolsListed is the ConfigMap that lists pools of the given names, each with an attribute of its own.
func poolsListed(names ...string) *corev1.ConfigMap {
	var text strings.Builder
	for _, name := range names {
		text.WriteString("- name: " + name + "\n  attributes: {service_tier: " + name + "}\n  bindReplicas: 1\n" +
			"  nsRecords: [{hostname: ns1." + name + ".example.org., priority: 1}]\n")
	}
	return poolsText(text.String())
}

func poolsText(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.MultipoolConfigMapName},
		Data:       map[string]string{v1alpha1.MultipoolConfigKey: text},
	}
}
