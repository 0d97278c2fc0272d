// Package v1alpha1 is the API of the Designate pool operator, group designate.openstack.org.
//
// It holds two kinds. A DesignateBackend, one per namespace, says what all pools share. A DesignatePool is one
// Designate pool with BIND servers of its own. The names, labels and condition reasons that the operator uses in a
// cluster are constants of this package, so that everything that reads them agrees on them.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=applyconfiguration
// +groupName=designate.openstack.org
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "designate.openstack.org", Version: "v1alpha1"}

	// SchemeGroupVersion is GroupVersion under the name that generated code expects.
	SchemeGroupVersion = GroupVersion

	// SchemeBuilder registers the kinds of this package.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&DesignateBackend{}, &DesignateBackendList{},
		&DesignatePool{}, &DesignatePoolList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
