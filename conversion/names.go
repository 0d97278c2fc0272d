package conversion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/designate-pools/designate-pool-operator/api/v1alpha1"
)

const (
	// objectNameHashLength is the number of hexadecimal digits at the end of an object name that had to be altered.
	objectNameHashLength = 12
	// objectNameStemLength is what remains for the readable part of such a name, its hyphen taken off.
	objectNameStemLength = validation.DNS1123LabelMaxLength - objectNameHashLength - 1
)

var (
	hashSuffix    = regexp.MustCompile(fmt.Sprintf(`-[0-9a-f]{%d}$`, objectNameHashLength))
	notLabelChars = regexp.MustCompile(`[^a-z0-9]+`)
	poolIDSpace   = uuid.NewSHA1(uuid.NameSpaceDNS, []byte(v1alpha1.GroupVersion.Group))
)

// FoldName is the form of a pool's name by which Designate's database compares names: the general collation of MySQL
// and MariaDB knows no letter case, no accents and no trailing spaces. Two pools whose names fold to the same text
// cannot both exist in Designate.
//
// That collation goes character by character, and so does this: Unicode's own case folding would make ss of a sharp s.
// Held against MariaDB 10.11 over every character of utf8mb3, this tells nothing apart that the collation does not,
// but for a combining iota alone; it takes some names for one that the database would tell apart.
func FoldName(name string) string {
	var folded strings.Builder
	// Bytes that are no UTF-8 would keep the characters behind them from being decomposed.
	for _, r := range norm.NFD.String(strings.ToValidUTF8(name, string(unicode.ReplacementChar))) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß', r == 'ẞ':
			folded.WriteByte('s')
		case r == 'ϲ', r == 'Ϲ': // the lunate sigma
			folded.WriteRune('σ')
		default:
			// By way of the capital, for several small letters may share one: s and the long s do.
			folded.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return strings.TrimRight(folded.String(), " ")
}

// ObjectName is the metadata.name of the DesignatePool that stands for the pool of a name. It is a DNS-1123 label that
// depends on nothing but the name.
//
// A name that is a label of 50 characters at most already is its own object name, unless it ends as a hash does here.
// Any other is altered into a readable stem, and a hash of the original is put behind it. So no two names share an
// object name: those that are kept never end like a hash and altered ones always do; kept ones are what they were; and
// altered ones differ by their hashes.
func ObjectName(poolName string) string {
	if len(poolName) <= v1alpha1.MaxPoolNameLength &&
		len(validation.IsDNS1123Label(poolName)) == 0 && !hashSuffix.MatchString(poolName) {
		return poolName
	}
	stem := notLabelChars.ReplaceAllString(FoldName(poolName), "-")
	stem = strings.Trim(stem[:min(len(stem), objectNameStemLength)], "-")
	if stem == "" {
		stem = "pool"
	}
	sum := sha256.Sum256([]byte(poolName))
	return stem + "-" + hex.EncodeToString(sum[:])[:objectNameHashLength]
}

// PoolID is the id that a pool gets in Designate when Designate has no pool of that name yet: a UUID (version 5) of the
// namespace and the pool's name, so it comes out the same after any loss of state.
func PoolID(namespace, poolName string) string {
	// A namespace holds no slash, so the two cannot run into each other.
	return uuid.NewSHA1(poolIDSpace, []byte(namespace+"/"+poolName)).String()
}

// RNDCKeyName is the name of the RNDC key of a number: its key in the Secret and its file in Designate's worker.
func RNDCKeyName(n int32) string { return fmt.Sprintf("rndc-key-%d", n) }
