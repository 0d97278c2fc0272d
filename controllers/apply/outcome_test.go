package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOutcome(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "thing", errors.New("behind"))
	wrapped := fmt.Errorf("status of thing: %w", conflict)
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		failures []error
		again    bool
		err      error
	}{
		"nothing failed":                               {[]error{nil, nil}, false, nil},
		"another writer was faster":                    {[]error{nil, wrapped}, true, nil},
		"other writers were faster, in several places": {[]error{errors.Join(conflict, wrapped), conflict}, true, nil},
		"something is broken":                          {[]error{broken}, false, broken},
		"something is broken beside a conflict":        {[]error{conflict, broken}, false, broken},
		"something is broken, joined with a conflict":  {[]error{errors.Join(conflict, broken)}, false, broken},
		"something was there already":                  {[]error{apierrors.NewAlreadyExists(schema.GroupResource{}, "x")}, false, apierrors.NewAlreadyExists(schema.GroupResource{}, "x")},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := Outcome(test.failures...)
			if again := result.RequeueAfter > 0; again != test.again {
				t.Errorf("asks for another pass: %v, want %v", again, test.again)
			}
			if (err == nil) != (test.err == nil) || (errors.Is(test.err, broken) && !errors.Is(err, broken)) {
				t.Errorf("error %v, want %v", err, test.err)
			}
		})
	}
}
