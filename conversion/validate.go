package conversion

import (
	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// ValidatePool judges the spec of a DesignatePool, its name in Designate included. Warnings name what is legal but
// likely wrong. The error is of type Problems and holds every fault.
func ValidatePool(pool *v1alpha1.DesignatePool) (warnings []string, err error) { return nil, nil }

// ValidateBackend judges the spec of a DesignateBackend. Warnings name what is legal but likely wrong. The error is of
// type Problems and holds every fault.
func ValidateBackend(backend *v1alpha1.DesignateBackend) (warnings []string, err error) { return nil, nil }

// ReservedOptions are the statements of named.conf's options block that bind.options may not hold.
var ReservedOptions = []string{}

// NormalizeSettings is a copy of the settings in their one form: NS host names with their trailing dot, nil for empty
// attributes.
func NormalizeSettings(s v1alpha1.PoolSettings) v1alpha1.PoolSettings { return *s.DeepCopy() }
