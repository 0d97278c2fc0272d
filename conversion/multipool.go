package conversion

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const emptyListMessage = `the list of pools is empty: there must be at least the pool named "` + v1alpha1.DefaultPoolName + `"`

// ConfiguredPool is one pool of the multipool ConfigMap.
type ConfiguredPool struct {
	// Name of the pool in Designate.
	Name string
	// Line of the pools text at which the pool begins.
	Line int
	// PoolSettings of the pool, as NormalizeSettings has them.
	v1alpha1.PoolSettings
}

// MultipoolConfig is what the multipool ConfigMap says.
type MultipoolConfig struct {
	// Pools in the order of the text.
	Pools []ConfiguredPool
	// Warnings name what is legal but likely wrong.
	Warnings []string
}

// ParseConfigMap reads the pools of the multipool ConfigMap. The error is of type Problems and holds every fault.
func ParseConfigMap(cm *corev1.ConfigMap) (*MultipoolConfig, error) {
	problems := validateKeys(cm)
	text, there := cm.Data[v1alpha1.MultipoolConfigKey]
	if !there {
		return nil, problems.Err()
	}
	config, faults := parsePools(text)
	if err := append(problems, faults...).Err(); err != nil {
		return nil, err
	}
	return config, nil
}

// validateKeys judges the keys of the ConfigMap's data. A key that nobody reads is likely the list under a wrong name.
func validateKeys(cm *corev1.ConfigMap) Problems {
	var problems Problems
	_, there := cm.Data[v1alpha1.MultipoolConfigKey]
	unknown := slices.Sorted(maps.Keys(cm.Data))
	unknown = append(unknown, slices.Sorted(maps.Keys(cm.BinaryData))...)
	for _, key := range unknown {
		switch _, binary := cm.BinaryData[key]; {
		case binary:
			problems = append(problems, Problem{Message: fmt.Sprintf(
				"the ConfigMap has the binaryData key %s, which is not read: the list of pools belongs under data, key %s",
				quote(key), v1alpha1.MultipoolConfigKey)})
		case key == v1alpha1.MultipoolConfigKey:
		case !there:
			problems = append(problems, Problem{Message: fmt.Sprintf(
				"the ConfigMap has the key %s and no key %s, under which the list of pools belongs: rename the key",
				quote(key), v1alpha1.MultipoolConfigKey)})
		default:
			problems = append(problems, Problem{Message: fmt.Sprintf(
				"the ConfigMap has the key %s, which is not read: only %s is; remove the other key",
				quote(key), v1alpha1.MultipoolConfigKey)})
		}
	}
	if !there && len(problems) == 0 {
		problems = append(problems, Problem{Message: fmt.Sprintf(
			"the ConfigMap has no key %s, under which the list of pools belongs: add it, with at least the pool %q",
			v1alpha1.MultipoolConfigKey, v1alpha1.DefaultPoolName)})
	}
	return problems
}

// ParseMultipool reads the text that the multipool ConfigMap holds under its key pools. The error is of type Problems
// and holds every fault.
func ParseMultipool(text string) (*MultipoolConfig, error) {
	config, problems := parsePools(text)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return config, nil
}

func parsePools(text string) (*MultipoolConfig, Problems) {
	root, problems := readDocument(text)
	if problems != nil {
		return nil, problems
	}
	if problem := checkRoot(root); problem != nil {
		return nil, Problems{*problem}
	}
	root = resolve(root)
	pools := make([]decodedPool, 0, len(root.Content))
	for _, node := range root.Content {
		pool, faults := decodePool(node)
		faults = append(faults, pool.locate(validateName(fieldName, pool.Name))...)
		faults = append(faults, pool.locate(validateSettings(pool.PoolSettings))...)
		problems = append(problems, faults...)
		pools = append(pools, pool)
	}
	problems = append(problems, validateNames(pools)...)
	problems = append(problems, validateServers(pools)...)
	if len(problems) > 0 {
		return nil, problems
	}
	config := &MultipoolConfig{Warnings: configWarnings(pools)}
	for _, pool := range pools {
		pool.PoolSettings = NormalizeSettings(pool.PoolSettings)
		config.Pools = append(config.Pools, pool.ConfiguredPool)
	}
	return config, nil
}

func checkRoot(root *yaml.Node) *Problem {
	list := resolve(root)
	switch {
	case list.Kind == yaml.ScalarNode && list.ShortTag() == "!!null", list.Kind == yaml.SequenceNode && len(list.Content) == 0:
		return &Problem{Message: emptyListMessage}
	case list.Kind != yaml.SequenceNode:
		return &Problem{Line: root.Line, Message: fmt.Sprintf(
			`the text must be a list of pools, each beginning with "- name:"; it is %s`, describe(list))}
	case len(list.Content) > v1alpha1.MaxPools:
		return &Problem{Message: fmt.Sprintf("there are %d pools: %d at most are allowed", len(list.Content), v1alpha1.MaxPools)}
	}
	return nil
}

// validateNames judges the pools' names against each other, and that the default pool is among them.
func validateNames(pools []decodedPool) Problems {
	var problems Problems
	first := map[string]*decodedPool{}
	for i := range pools {
		pool := &pools[i]
		if pool.faulty[fieldName] {
			continue
		}
		folded := FoldName(pool.Name)
		other, taken := first[folded]
		switch {
		case !taken:
			first[folded] = pool
		case other.Name == pool.Name:
			problems = append(problems, pool.nameProblem(
				"is a duplicate of the pool on line %d: give each pool a name of its own", other.Line))
		default:
			problems = append(problems, pool.nameProblem(
				"is the same name as %s on line %d to Designate's database, which tells neither letter case nor accents nor "+
					"trailing spaces apart: choose another name", quote(other.Name), other.Line))
		}
	}
	return append(problems, validateDefault(pools, first[FoldName(v1alpha1.DefaultPoolName)])...)
}

// validateDefault makes sure of the default pool. Of a pool that Designate takes for that one, it says so. A pool whose
// name could not be read may be the default one, so there is nothing to say before that is mended.
func validateDefault(pools []decodedPool, near *decodedPool) Problems {
	if slices.ContainsFunc(pools, func(pool decodedPool) bool {
		return pool.Name == v1alpha1.DefaultPoolName || pool.faulty[fieldName]
	}) {
		return nil
	}
	if near != nil {
		return Problems{near.nameProblem(
			"must be exactly %q, for Designate to find the pool that it must have", v1alpha1.DefaultPoolName)}
	}
	return Problems{{Message: fmt.Sprintf("there must be a pool named %q: add it", v1alpha1.DefaultPoolName)}}
}

func (p *decodedPool) nameProblem(format string, args ...any) Problem {
	return Problem{Line: p.lineOf(fieldName), Pool: p.Name, Field: fieldName, Message: fmt.Sprintf(format, args...)}
}

// configWarnings name what is legal but likely wrong in a list of valid pools.
func configWarnings(pools []decodedPool) []string {
	warnings := make(Problems, 0, len(pools))
	for i := range pools {
		pool := &pools[i]
		found := dotWarnings(pool.PoolSettings)
		switch {
		case len(pool.Attributes) == 0 && len(pools) > 1:
			found = append(found, noAttributesWarning)
		case len(pool.Attributes) > 0:
			found = append(found, equalAttributesWarnings(pool, pools[:i])...)
		}
		warnings = append(warnings, pool.locate(found)...)
	}
	return warnings.lines()
}

// noAttributesWarning is for a pool that has no attributes and is not the only one.
var noAttributesWarning = Problem{
	Field: fieldAttributes,
	Message: "has none, so Designate's attribute filter finds this pool fit for every zone, " +
		"also for those meant for another pool: give it attributes",
}

func equalAttributesWarnings(pool *decodedPool, before []decodedPool) Problems {
	for _, other := range before {
		if maps.Equal(pool.Attributes, other.Attributes) {
			return Problems{sameAttributesWarning(fmt.Sprintf("%s on line %d", quote(other.Name), other.Line))}
		}
	}
	return nil
}

// sameAttributesWarning is for a pool that has the attributes of another.
func sameAttributesWarning(other string) Problem {
	return Problem{
		Field:   fieldAttributes,
		Message: fmt.Sprintf("are the same as those of pool %s, so Designate's attribute filter cannot tell the two apart", other),
	}
}

// validateServers bounds the servers of all pools together.
func validateServers(pools []decodedPool) Problems {
	total := 0
	for i := range pools {
		total += int(pools[i].BINDReplicas)
	}
	if total <= v1alpha1.MaxServers {
		return nil
	}
	return Problems{{Message: fmt.Sprintf(
		"the pools ask for %d servers together: %d at most are allowed; lower bindReplicas", total, v1alpha1.MaxServers)}}
}
