package builders

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
	"github.com/designate-pools/designate-pool-operator/conversion"
)

// StatisticsPort is the port of BIND's statistics channel. The other ports of the Services are those of pools.yaml.
const StatisticsPort = 8053

// labelClosed is in the selector of a client Service that leads nowhere yet. No pod has it.
const labelClosed = "designate.openstack.org/not-joined"

// labelPodName is the label that the StatefulSet controller gives each pod.
const labelPodName = "statefulset.kubernetes.io/pod-name"

// ClientService is the Service at which resolvers ask one server. It exists, with its address, before the server has
// joined; until then, and again while the server leaves, it selects no pod.
func ClientService(pool *Pool, server Server) *corev1ac.ServiceApplyConfiguration {
	template := pool.Template.ClientService
	if pool.Spec.BIND != nil {
		template.Annotations = merged(template.Annotations, pool.Spec.BIND.ClientServiceAnnotations)
	}
	service := service(pool, ClientServiceName(pool.Index, server.Ordinal), v1alpha1.ServiceRoleClient, server.Ordinal, template)
	selector := podOf(pool, server)
	if !server.Open {
		selector[labelClosed] = "true"
	}
	service.Spec.WithSelector(selector).WithPorts(dnsPorts()...)
	return service
}

// ControlService is the Service at which Designate reaches one server, ready or not: pools.yaml names its address.
func ControlService(pool *Pool, server Server) *corev1ac.ServiceApplyConfiguration {
	name := ControlServiceName(server.StatefulSet, server.Ordinal)
	service := service(pool, name, v1alpha1.ServiceRoleControl, server.Ordinal, pool.Template.ControlService)
	service.WithAnnotations(map[string]string{v1alpha1.AnnotationRNDCKey: strconv.Itoa(int(server.RNDCKey))})
	service.Spec.WithSelector(podOf(pool, server)).
		WithPublishNotReadyAddresses(true).
		WithPorts(dnsPorts()...).
		WithPorts(
			port("rndc", corev1.ProtocolTCP, conversion.RNDCPort),
			port("statistics", corev1.ProtocolTCP, StatisticsPort),
		)
	return service
}

// ServiceIsOpen says whether a client Service leads to a server.
func ServiceIsOpen(service *corev1.Service) bool {
	_, closed := service.Spec.Selector[labelClosed]
	return !closed && len(service.Spec.Selector) > 0
}

// ServiceLeadsTo says whether a client Service leads to the server in a pod. One of a selector that is not ours may.
func ServiceLeadsTo(service *corev1.Service, pod string) bool {
	name, named := service.Spec.Selector[labelPodName]
	return ServiceIsOpen(service) && (!named || name == pod)
}

// ServiceAddress is the IP address at which a Service is reached: its load balancer's for that type, else its cluster
// IP. It is empty while there is none.
func ServiceAddress(service *corev1.Service) string {
	if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			if ingress.IP != "" {
				return ingress.IP
			}
		}
		return ""
	}
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		return ""
	}
	return service.Spec.ClusterIP
}

func service(
	pool *Pool, name, role string, ordinal int32, template v1alpha1.ServiceTemplate,
) *corev1ac.ServiceApplyConfiguration {
	serviceType := template.Type
	if serviceType == "" {
		serviceType = corev1.ServiceTypeClusterIP
	}
	return corev1ac.Service(name, pool.Namespace).
		WithLabels(pool.labels()).
		WithLabels(map[string]string{
			v1alpha1.LabelServiceRole: role,
			v1alpha1.LabelOrdinal:     strconv.Itoa(int(ordinal)),
		}).
		WithAnnotations(template.Annotations).
		WithAnnotations(pool.annotations()).
		WithSpec(corev1ac.ServiceSpec().WithType(serviceType))
}

func podOf(pool *Pool, server Server) map[string]string {
	return map[string]string{
		labelPodName:          server.Pod(),
		v1alpha1.LabelPoolUID: string(pool.UID),
	}
}

func dnsPorts() []*corev1ac.ServicePortApplyConfiguration {
	return []*corev1ac.ServicePortApplyConfiguration{
		port("dns", corev1.ProtocolUDP, conversion.DNSPort),
		port("dns-tcp", corev1.ProtocolTCP, conversion.DNSPort),
	}
}

// port leads to the container port of the same name.
func port(name string, protocol corev1.Protocol, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithProtocol(protocol).WithPort(number).WithTargetPort(intstr.FromString(name))
}
