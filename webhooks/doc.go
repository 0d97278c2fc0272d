// Package webhooks answers the API server's questions before a change is stored: about the ConfigMap
// designate-multipool-config, DesignateBackends, DesignatePools and their scale.
//
// It is a convenience. What is wrong is said here to the person who types it, and the controllers come to the same
// verdict about what slipped by: this package denies, they wait. So it judges by package conversion and by what the API
// server holds at the moment, and asks Designate nothing.
//
// Three are always let through: the operator itself, whose writes follow from what was admitted before; every change in
// a namespace that is being deleted; and changes that leave alone what a rule is about, such as the removal of a
// finalizer from an object whose spec would not be admitted today.
//
// The markers in this package are the source of config/webhook/manifests.yaml.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=designate-pool-operator
package webhooks

// ConfigurationName is the name of the ValidatingWebhookConfiguration that leads here.
const ConfigurationName = "designate-pool-operator"
