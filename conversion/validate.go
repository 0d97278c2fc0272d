package conversion

import (
	"fmt"
	"maps"
	"net/netip"
	"path"

	"github.com/google/uuid"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// maxPort is the highest port number.
const maxPort = 65535

// ValidatePool judges the spec of a DesignatePool, its name in Designate included. Warnings name what is legal but
// likely wrong. The error is of type Problems and holds every fault.
func ValidatePool(pool *v1alpha1.DesignatePool) (warnings []string, err error) {
	nameField := "spec.poolName"
	if pool.Spec.PoolName == "" {
		nameField = "metadata.name"
	}
	problems := validateName(nameField, pool.PoolName())
	problems = append(problems, validateSettings(pool.Spec.PoolSettings).under("spec")...)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	found := dotWarnings(pool.Spec.PoolSettings)
	if len(pool.Spec.Attributes) == 0 && !pool.IsDefault() {
		found = append(found, noAttributesWarning)
	}
	return found.under("spec").lines(), nil
}

// NeighbourWarnings name what is likely wrong with a DesignatePool beside the others of its namespace.
func NeighbourWarnings(pool *v1alpha1.DesignatePool, others []v1alpha1.DesignatePool) []string {
	var found Problems
	if len(pool.Spec.Attributes) == 0 {
		if pool.IsDefault() && len(others) > 0 {
			found = append(found, noAttributesWarning)
		}
		return found.under("spec").lines()
	}
	for i := range others {
		if maps.Equal(pool.Spec.Attributes, others[i].Spec.Attributes) {
			found = append(found, sameAttributesWarning(quote(others[i].PoolName())))
		}
	}
	return found.under("spec").lines()
}

// ValidateBackend judges the spec of a DesignateBackend. Warnings name what is legal but likely wrong. The error is of
// type Problems and holds every fault.
func ValidateBackend(backend *v1alpha1.DesignateBackend) (warnings []string, err error) {
	spec := &backend.Spec
	problems := validatePrimaries(spec.Primaries).under("spec")
	problems = append(problems, validateSettings(spec.DefaultPool).under("spec.defaultPool")...)
	cidrProblems, cidrWarnings := validateControlCIDRs(spec.BIND.ControlCIDRs)
	problems = append(problems, cidrProblems.under("spec.bind")...)
	problems = append(problems, validateOptions(spec.BIND.Options).under("spec.bind")...)
	problems = append(problems, validateDesignate(spec.Designate).under("spec.designate")...)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	found := dotWarnings(spec.DefaultPool).under("spec.defaultPool")
	return append(found, cidrWarnings.under("spec.bind")...).lines(), nil
}

// under is the problems with their fields' paths put behind another.
func (ps Problems) under(parent string) Problems {
	moved := make(Problems, 0, len(ps))
	for _, p := range ps {
		p.Field = join(parent, p.Field)
		moved = append(moved, p)
	}
	return moved
}

func validatePrimaries(primaries []v1alpha1.Primary) Problems {
	if len(primaries) == 0 {
		return Problems{{Field: "primaries", Message: "must hold at least one address: without one no zone reaches BIND"}}
	}
	var problems Problems
	first := map[netip.AddrPort]int{}
	for i, primary := range primaries {
		field := fmt.Sprintf("primaries[%d]", i)
		if primary.Port < 1 || primary.Port > maxPort {
			problems = append(problems, Problem{
				Field:   field + ".port",
				Message: fmt.Sprintf("must be a whole number from 1 to %d; it is %d", maxPort, primary.Port),
			})
			continue
		}
		address, err := netip.ParseAddr(primary.Address)
		if err != nil || address.Zone() != "" {
			problems = append(problems, Problem{
				Field:   field + ".address",
				Message: quote(primary.Address) + " is not an IP address: BIND takes no host name for a primary",
			})
			continue
		}
		// 2001:db8::1 and 2001:DB8:0::1 are one address, which only the parsed form shows.
		endpoint := netip.AddrPortFrom(address.Unmap(), uint16(primary.Port))
		if other, taken := first[endpoint]; taken {
			problems = append(problems, Problem{
				Field:   field,
				Message: fmt.Sprintf("%s is the same primary as primaries[%d]: remove one of them", endpoint, other),
			})
			continue
		}
		first[endpoint] = i
	}
	return problems
}

func validateControlCIDRs(cidrs []string) (problems, warnings Problems) {
	if len(cidrs) == 0 {
		return Problems{{Field: "controlCIDRs", Message: "must hold at least one network: without one Designate reaches no server"}}, nil
	}
	first := map[netip.Prefix]int{}
	for i, cidr := range cidrs {
		field := fmt.Sprintf("controlCIDRs[%d]", i)
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			problems = append(problems, Problem{
				Field:   field,
				Message: quote(cidr) + " is not a network in CIDR notation, such as 10.0.0.0/8 or 2001:db8::/32",
			})
			continue
		}
		if canonical := prefix.Masked().String(); canonical != cidr {
			problems = append(problems, Problem{
				Field:   field,
				Message: fmt.Sprintf("%s is not the network's own notation: write %s", quote(cidr), canonical),
			})
			continue
		}
		if other, taken := first[prefix]; taken {
			problems = append(problems, Problem{
				Field:   field,
				Message: fmt.Sprintf("%s is controlCIDRs[%d] too: remove one of them", cidr, other),
			})
			continue
		}
		first[prefix] = i
		if prefix.Bits() == 0 {
			warnings = append(warnings, Problem{
				Field:   field,
				Message: cidr + " lets anybody send NOTIFY and try rndc: name the networks of Designate's workers and of this operator",
			})
		}
	}
	return problems, warnings
}

func validateDesignate(designate v1alpha1.Designate) Problems {
	var problems Problems
	id, err := uuid.Parse(designate.DefaultPoolID)
	if err != nil || id.String() != designate.DefaultPoolID {
		problems = append(problems, Problem{
			Field:   "defaultPoolID",
			Message: quote(designate.DefaultPoolID) + " is not a UUID in lower case, such as 794ccc2c-d751-44fe-b57f-8894c9f5c842",
		})
	}
	directory := designate.RNDCKeyDirectory
	if !path.IsAbs(directory) || path.Clean(directory) != directory {
		problems = append(problems, Problem{
			Field:   "rndcKeyDirectory",
			Message: quote(directory) + " is not a clean absolute path, such as /etc/designate/rndc-keys",
		})
	}
	return problems
}
