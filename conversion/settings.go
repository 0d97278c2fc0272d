package conversion

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

// hostname is what the schema of NSRecord.Hostname says: labels of 1 to 63 letters, digits, hyphens and underscores.
var hostname = regexp.MustCompile(
	`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)

// NormalizeSettings is a copy of the settings in their one form: NS host names end with a dot, and what is empty is nil.
func NormalizeSettings(s v1alpha1.PoolSettings) v1alpha1.PoolSettings {
	normal := *s.DeepCopy()
	if len(normal.Attributes) == 0 {
		normal.Attributes = nil
	}
	if len(normal.NSRecords) == 0 {
		normal.NSRecords = nil
	}
	for i := range normal.NSRecords {
		normal.NSRecords[i].Hostname = absolute(normal.NSRecords[i].Hostname)
	}
	return normal
}

func absolute(hostname string) string {
	if hostname == "" || strings.HasSuffix(hostname, ".") {
		return hostname
	}
	return hostname + "."
}

// validateSettings judges the settings of one pool. The problems have the field's path within the settings and no place.
func validateSettings(s v1alpha1.PoolSettings) Problems {
	var problems Problems
	problems = append(problems, validateText(fieldDescription, s.Description, v1alpha1.MaxDescriptionLength)...)
	problems = append(problems, validateAttributes(s.Attributes)...)
	if s.BINDReplicas < 0 || s.BINDReplicas > v1alpha1.MaxReplicas {
		problems = append(problems, Problem{
			Field:   fieldBINDReplicas,
			Message: fmt.Sprintf("must be a whole number from 0 to %d; it is %d", v1alpha1.MaxReplicas, s.BINDReplicas),
		})
	}
	return append(problems, validateNSRecords(s.NSRecords)...)
}

func validateAttributes(attributes map[string]string) Problems {
	var problems Problems
	if len(attributes) > v1alpha1.MaxAttributes {
		problems = append(problems, Problem{
			Field:   fieldAttributes,
			Message: fmt.Sprintf("must be %d at most; there are %d", v1alpha1.MaxAttributes, len(attributes)),
		})
	}
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		field := attributeField(key)
		if key == "" {
			problems = append(problems, Problem{Field: field, Message: "the key must not be empty"})
		}
		for _, problem := range validateText(field, key, v1alpha1.MaxAttributeLength) {
			problem.Message = "the key " + problem.Message
			problems = append(problems, problem)
		}
		problems = append(problems, validateText(field, attributes[key], v1alpha1.MaxAttributeLength)...)
	}
	return problems
}

func validateNSRecords(records []v1alpha1.NSRecord) Problems {
	switch {
	case len(records) == 0:
		return Problems{{Field: fieldNSRecords, Message: "must hold at least one NS record: Designate accepts no pool without"}}
	case len(records) > v1alpha1.MaxNSRecords:
		return Problems{{
			Field:   fieldNSRecords,
			Message: fmt.Sprintf("must be %d at most; there are %d", v1alpha1.MaxNSRecords, len(records)),
		}}
	}
	var problems Problems
	first := map[string]int{}
	for i, record := range records {
		path := nsRecordField(i)
		problems = append(problems, validateHostname(join(path, fieldHostname), record.Hostname)...)
		if record.Priority < v1alpha1.MinNSRecordPriority || record.Priority > v1alpha1.MaxNSRecordPriority {
			problems = append(problems, Problem{
				Field: join(path, fieldPriority),
				Message: fmt.Sprintf("must be a whole number from %d to %d; it is %d",
					v1alpha1.MinNSRecordPriority, v1alpha1.MaxNSRecordPriority, record.Priority),
			})
		}
		name := strings.ToLower(absolute(record.Hostname))
		if other, taken := first[name]; taken {
			problems = append(problems, Problem{
				Field:   join(path, fieldHostname),
				Message: fmt.Sprintf("%s is the host name of %s too: name each host once", quote(record.Hostname), nsRecordField(other)),
			})
			continue
		}
		first[name] = i
	}
	return problems
}

func validateHostname(field, name string) Problems {
	if len(absolute(name)) > v1alpha1.MaxHostnameLength {
		return Problems{{
			Field: field,
			Message: fmt.Sprintf("%s is too long: a host name has %d characters at most, its trailing dot included",
				quote(name), v1alpha1.MaxHostnameLength),
		}}
	}
	if !hostname.MatchString(name) {
		return Problems{{
			Field: field,
			Message: quote(name) + " is not a host name: write labels of 1 to 63 letters, digits and hyphens with single dots between, " +
				"such as ns1.example.org.",
		}}
	}
	return nil
}

// validateName judges a pool's name in Designate.
func validateName(field, name string) Problems {
	if strings.TrimSpace(name) == "" {
		return Problems{{Field: field, Message: "must hold more than spaces"}}
	}
	problems := validateText(field, name, v1alpha1.MaxPoolNameLength)
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 && name[i] != 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		problems = append(problems, Problem{Field: field, Message: fmt.Sprintf("holds the control character U+%04X: remove it", r)})
	}
	return problems
}

// validateText judges a text by what Designate's database can hold.
func validateText(field, value string, maxLength int) Problems {
	var problems Problems
	if length := utf8.RuneCountInString(value); length > maxLength {
		problems = append(problems, Problem{
			Field:   field,
			Message: fmt.Sprintf("must have %d characters at most; it has %d", maxLength, length),
		})
	}
	if !utf8.ValidString(value) {
		return append(problems, Problem{Field: field, Message: "is not valid UTF-8: write it anew"})
	}
	if strings.ContainsRune(value, 0) {
		problems = append(problems, Problem{Field: field, Message: "holds a NUL character: remove it"})
	}
	for _, r := range value {
		if r > 0xffff {
			problems = append(problems, Problem{
				Field: field,
				Message: fmt.Sprintf("holds the character U+%04X: Designate's database takes no characters beyond U+FFFF, "+
					"such as emoji: remove it", r),
			})
			break
		}
	}
	return problems
}

// dotWarnings name the NS host names of one pool to which a trailing dot is added.
func dotWarnings(s v1alpha1.PoolSettings) Problems {
	var warnings Problems
	for i, record := range s.NSRecords {
		if full := absolute(record.Hostname); full != record.Hostname {
			warnings = append(warnings, Problem{
				Field:   join(nsRecordField(i), fieldHostname),
				Message: fmt.Sprintf("%s has no trailing dot and is taken as %s", quote(record.Hostname), quote(full)),
			})
		}
	}
	return warnings
}
