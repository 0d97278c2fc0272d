package builders

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

var variants = map[string]func() *Pool{
	"single mode": single, "multi mode": edge, "everything in the template": everything, "everything overridden": overridden,
}

// TestPodsMeetTheRestrictedLevel checks the controls of the Pod Security level "restricted" on which a pod of ours could
// fail.
func TestPodsMeetTheRestrictedLevel(t *testing.T) {
	pods := map[string]*corev1ac.PodSpecApplyConfiguration{
		"pool update":                 PoolUpdateJob(applying(), 7).Spec.Template.Spec,
		"pool update with everything": PoolUpdateJob(applyingWithEverything(), 7).Spec.Template.Spec,
	}
	for name, pool := range variants {
		pods[name] = StatefulSet(pool(), 1).Spec.Template.Spec
	}
	for name, spec := range pods {
		t.Run(name, func(t *testing.T) {
			if spec.HostNetwork != nil || spec.HostPID != nil || spec.HostIPC != nil {
				t.Error("the pod shares something of its host")
			}
			security := spec.SecurityContext
			if !ptr.Deref(security.RunAsNonRoot, false) || ptr.Deref(security.RunAsUser, 0) == 0 {
				t.Errorf("the pod may run as root: runAsNonRoot %v, runAsUser %v", security.RunAsNonRoot, security.RunAsUser)
			}
			if security.SeccompProfile == nil || *security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Error("the pod has no seccomp profile of the runtime")
			}
			for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
				checkContainer(t, &container)
			}
			for _, volume := range spec.Volumes {
				if volume.ConfigMap == nil && volume.Secret == nil && volume.EmptyDir == nil {
					t.Errorf("volume %s is of a kind that is not allowed", *volume.Name)
				}
			}
		})
	}
}

func checkContainer(t *testing.T, container *corev1ac.ContainerApplyConfiguration) {
	t.Helper()
	security := container.SecurityContext
	if ptr.Deref(security.AllowPrivilegeEscalation, true) || security.Privileged != nil {
		t.Errorf("container %s may gain privileges", *container.Name)
	}
	if security.Capabilities == nil || !slices.Contains(security.Capabilities.Drop, "ALL") || len(security.Capabilities.Add) > 0 {
		t.Errorf("container %s has capabilities", *container.Name)
	}
	if security.RunAsUser != nil || security.RunAsNonRoot != nil || security.SeccompProfile != nil {
		t.Errorf("container %s undoes what the pod says", *container.Name)
	}
	if !ptr.Deref(security.ReadOnlyRootFilesystem, false) {
		t.Errorf("container %s may write to its image", *container.Name)
	}
	for _, port := range container.Ports {
		if port.HostPort != nil || *port.ContainerPort < 1024 {
			t.Errorf("port %s of container %s needs privileges", *port.Name, *container.Name)
		}
	}
}

// TestEverythingMountedIsBuilt: in every mode the volumes name what the builders make for the same pool.
func TestEverythingMountedIsBuilt(t *testing.T) {
	for name, build := range variants {
		t.Run(name, func(t *testing.T) {
			pool := build()
			statefulSet := StatefulSet(pool, 2).Spec
			configMap, secrets := ConfigMap(pool), []string{*KeySecret(pool, keys()).Name, *TSIGSecret(pool).Name}
			volumes := []string{*statefulSet.VolumeClaimTemplates[0].Name}
			for _, volume := range statefulSet.Template.Spec.Volumes {
				volumes = append(volumes, *volume.Name)
				if volume.ConfigMap != nil && *volume.ConfigMap.Name != *configMap.Name {
					t.Errorf("the pod mounts ConfigMap %s, and %s is made", *volume.ConfigMap.Name, *configMap.Name)
				}
				if volume.Secret != nil && !slices.Contains(secrets, *volume.Secret.SecretName) {
					t.Errorf("the pod mounts Secret %s, and %q are made", *volume.Secret.SecretName, secrets)
				}
			}
			for _, container := range slices.Concat(statefulSet.Template.Spec.InitContainers, statefulSet.Template.Spec.Containers) {
				for _, mount := range container.VolumeMounts {
					if !slices.Contains(volumes, *mount.Name) {
						t.Errorf("container %s mounts %s, which is no volume of the pod: %q", *container.Name, *mount.Name, volumes)
					}
				}
			}
			for _, server := range pool.Servers {
				if file := PodName(*StatefulSet(pool, 2).Name, server.Ordinal) + ".conf"; configMap.Data[file] == "" {
					t.Errorf("server %d starts with %s, which the ConfigMap does not hold", server.Ordinal, file)
				}
			}
		})
	}
}

// TestServicesLeadToThePodsOfThePool: what a Service selects is what the pod template and its controller put on a pod.
func TestServicesLeadToThePodsOfThePool(t *testing.T) {
	for name, build := range variants {
		t.Run(name, func(t *testing.T) {
			pool := build()
			template := StatefulSet(pool, 2).Spec.Template
			pod := merged(template.Labels, map[string]string{"statefulset.kubernetes.io/pod-name": PodName(pool.StatefulSet, 0)})
			selects := func(selector map[string]string) bool {
				for key, value := range selector {
					if pod[key] != value {
						return false
					}
				}
				return len(selector) > 0
			}
			open, closed := ClientService(pool, Server{StatefulSet: pool.StatefulSet, Open: true}), ClientService(pool, Server{StatefulSet: pool.StatefulSet})
			for what, test := range map[string]struct {
				selector map[string]string
				want     bool
			}{
				"the StatefulSet":              {StatefulSet(pool, 2).Spec.Selector.MatchLabels, true},
				"the disruption budget":        {DisruptionBudget(pool).Spec.Selector.MatchLabels, true},
				"the control Service":          {ControlService(pool, Server{StatefulSet: pool.StatefulSet}).Spec.Selector, true},
				"the open client Service":      {open.Spec.Selector, true},
				"the closed client Service":    {closed.Spec.Selector, false},
				"a Service of another ordinal": {ControlService(pool, Server{StatefulSet: pool.StatefulSet, Ordinal: 1}).Spec.Selector, false},
			} {
				if got := selects(test.selector); got != test.want {
					t.Errorf("%s selects the pod: %v, want %v", what, got, test.want)
				}
			}
			ports := map[string]bool{}
			for _, port := range template.Spec.Containers[0].Ports {
				ports[*port.Name] = true
			}
			for _, port := range slices.Concat(ControlService(pool, Server{StatefulSet: pool.StatefulSet}).Spec.Ports, open.Spec.Ports) {
				if !ports[port.TargetPort.String()] {
					t.Errorf("a Service leads to port %s, which the container has not", port.TargetPort)
				}
			}
		})
	}
}

func TestServiceIsOpen(t *testing.T) {
	for name, test := range map[string]struct {
		selector map[string]string
		want     bool
	}{
		"one that leads to a server": {ClientService(edge(), Server{Open: true}).Spec.Selector, true},
		"one that is closed":         {ClientService(edge(), Server{}).Spec.Selector, false},
		"one that selects nothing":   {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: test.selector}}
			if got := ServiceIsOpen(service); got != test.want {
				t.Errorf("open: %v, want %v", got, test.want)
			}
			if got := ServiceLeadsTo(service, "-0"); got != test.want {
				t.Errorf("it leads to the server: %v, want %v", got, test.want)
			}
			if ServiceLeadsTo(service, "other-0") {
				t.Error("it leads to a server of the other mode")
			}
		})
	}
}

func TestServiceAddress(t *testing.T) {
	balancer := func(ingress ...corev1.LoadBalancerIngress) corev1.Service {
		return corev1.Service{
			Spec:   corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.96.0.1"},
			Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: ingress}},
		}
	}
	for name, test := range map[string]struct {
		service corev1.Service
		want    string
	}{
		"the cluster IP":                                        {corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1"}}, "10.96.0.1"},
		"none for a headless Service":                           {corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}, ""},
		"none before the API server gave one":                   {corev1.Service{}, ""},
		"that of the load balancer, not the cluster IP":         {balancer(corev1.LoadBalancerIngress{IP: "192.0.2.7"}), "192.0.2.7"},
		"none while the load balancer has none":                 {balancer(), ""},
		"the first that is an address, since BIND has no names": {balancer(corev1.LoadBalancerIngress{Hostname: "lb.example.org"}, corev1.LoadBalancerIngress{IP: "192.0.2.8"}), "192.0.2.8"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ServiceAddress(&test.service); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPodReady(t *testing.T) {
	pod := func(conditions ...corev1.PodCondition) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Conditions: conditions}}
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	leaving := pod(ready)
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a ready pod":                      {pod(corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}, ready), true},
		"one that is not":                  {pod(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}), false},
		"one of which nothing is known":    {pod(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionUnknown}), false},
		"one without conditions":           {pod(), false},
		"one that is ready and is leaving": {leaving, false},
		"none at all":                      {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := PodReady(test.pod); got != test.want {
				t.Errorf("ready: %v, want %v", got, test.want)
			}
		})
	}
}

// TestReservedMetadataWins: annotations of people replace none of those that the operator reads back.
func TestReservedMetadataWins(t *testing.T) {
	pool := edge()
	forged := map[string]string{v1alpha1.AnnotationRNDCKey: "99", v1alpha1.AnnotationPoolName: "forged"}
	pool.Template.ControlService.Annotations, pool.Template.ClientService.Annotations = forged, forged
	control := ControlService(pool, pool.Servers[0])
	if got := control.Annotations[v1alpha1.AnnotationRNDCKey]; got != "3" {
		t.Errorf("the control Service bears key %s, want 3", got)
	}
	for _, service := range []*corev1ac.ServiceApplyConfiguration{control, ClientService(pool, pool.Servers[0])} {
		if got := service.Annotations[v1alpha1.AnnotationPoolName]; got != pool.Name {
			t.Errorf("Service %s says that it belongs to pool %q", *service.Name, got)
		}
	}
}
