package jobs

import (
	"strings"
	"testing"
	"unicode"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func failureOf(t *testing.T, changes ...podChange) string {
	t.Helper()
	return outcomeOf(t, 7, job(7, failed), pod(7, corev1.PodFailed, changes...)).Failure
}

func TestFailure(t *testing.T) {
	long := strings.Repeat("x", 490)
	for name, test := range map[string]struct {
		change podChange
		want   string
	}{
		"the last three lines that are not empty": {
			exited(1, "Error", "zero\none\n\n  two  \r\n\t\nthree\n\n"), "exit code 1: one | two | three",
		},
		"nothing in the log": {exited(255, "Error", "\n"), "exit code 255"},
		"out of memory":      {exited(137, "OOMKilled", ""), "exit code 137 (OOMKilled)"},
		"evicted": {
			func(pod *corev1.Pod) {
				pod.Status.Reason, pod.Status.Message = "Evicted", "The node was low on resource: memory."
			},
			"Evicted: The node was low on resource: memory.",
		},
		"drained": {
			podCondition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "Eviction API: evicting"),
			"EvictionByEvictionAPI: Eviction API: evicting",
		},
		"nothing is known": {func(*corev1.Pod) {}, "BackoffLimitExceeded: Job has reached the specified backoff limit"},
		"a long line before the last is left out": {
			exited(1, "Error", long+"\nlast"), "exit code 1: last",
		},
		"colours": {exited(1, "Error", "\x1b[31;1mERROR\x1b[0m it\x00 is\x07 so"), "exit code 1: ERROR it is so"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failureOf(t, test.change); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestAFailureIsBounded(t *testing.T) {
	for name, log := range map[string]string{
		"one line":         strings.Repeat("word ", 400),
		"of wide letters":  strings.Repeat("ü", 1000),
		"three lines":      strings.Repeat(strings.Repeat("y", 400)+"\n", 3),
		"after many lines": strings.Repeat("a\n", 500) + strings.Repeat("z", 700),
	} {
		got := failureOf(t, exited(1, "Error", log))
		if n := len([]rune(got)); n > 500 || n < 400 || !strings.HasPrefix(got, "exit code 1: ") {
			t.Errorf("%s: %d characters: %q", name, n, got)
		}
	}
	message := strings.Repeat("m", 2000)
	got := outcomeOf(t, 7, job(7, is(batchv1.JobFailed, "Odd", message)), pod(7, corev1.PodFailed, exited(1, "Error", message))).Failure
	if n := len([]rune(got)); n != 500 {
		t.Errorf("%d characters of a long condition: %q", n, got)
	}
}

// TestNoSecretIsInAFailure: whatever a log holds of these, a condition does not.
func TestNoSecretIsInAFailure(t *testing.T) {
	for line, want := range map[string]string{
		"cannot reach rabbit://designate:S3CRET@rabbit-1:5672/":                   "cannot reach rabbit://***@rabbit-1:5672/",
		"cannot reach rabbit://designate:S3/CR@ET@rabbit-1:5672/":                 "cannot reach rabbit://***@rabbit-1:5672/",
		"rabbit://a:S3CRET@one:5672,b:S3CRET@two:5672/":                           "rabbit://***@two:5672/",
		"(mysql+pymysql://designate:S3CRET@db/designate)":                         "(mysql+pymysql://***@db/designate)",
		"no password in https://docs.example.org/a?b=c":                           "no password in https://docs.example.org/a?b=c",
		"transport_url = rabbit://h/S3CRET":                                       "transport_url = ***",
		"connection=S3CRET":                                                       "connection=***",
		"Password: S3CRET and more":                                               "Password: *** and more",
		"admin_password=S3CRET":                                                   "admin_password=***",
		"MYSQL_PASSWD =S3CRET":                                                    "MYSQL_PASSWD =***",
		`{"secret": "S3CRET \" S3CRET", "name": "x"}`:                             `{"secret": ***, "name": "x"}`,
		`{'auth_token': 'S3CRET S3CRET', 'name': 'x'}`:                            `{'auth_token': ***, 'name': 'x'}`,
		"[parameters: {'secret_1': 'S3CRET'}]":                                    "[parameters: {'secret_1': ***}]",
		"X-Auth-Token: S3CRET":                                                    "X-Auth-Token: ***",
		"--os-password=S3CRET x":                                                  "--os-password=*** x",
		"pass\x00word=S3CRET":                                                     "password=***",
		"pass\u200bword=S3CRET":                                                   "password=***",
		"password=\x1b[1mS3CRET":                                                  "password=***",
		"\x1b[1mpassword\x1b[0m=S3CRET":                                           "password=***",
		"rabbit://designate:S3C\x00RET@host":                                      "rabbit://***@host",
		"password=\"S3CRET":                                                       "password=***",
		"Access denied for user 'designate'@'10.0.0.1' (using password: YES)":     "Access denied for user 'designate'@'10.0.0.1' (using password: ***",
		"designate.exceptions.InvalidObject: Provided object is not valid. ns_re": "designate.exceptions.InvalidObject: Provided object is not valid. ns_re",
	} {
		if got := failureOf(t, exited(1, "Error", line)); got != "exit code 1: "+want {
			t.Errorf("%q becomes\n%q, want\n%q", line, got, "exit code 1: "+want)
		}
		message := "exit code 1; Odd: " + want
		got := outcomeOf(t, 7, job(7, is(batchv1.JobFailed, "Odd", line)), pod(7, corev1.PodFailed, exited(1, "Error", ""))).Failure
		if strings.Contains(got, "S3CRET") {
			t.Errorf("in a condition of a Job, %q becomes %q, want something like %q", line, got, message)
		}
	}
}

// TestTheStartOfACutLogIsDropped: the kubelet keeps the last 2048 bytes, which may begin within an address with a password.
func TestTheStartOfACutLogIsDropped(t *testing.T) {
	log := "S3CRET@db/designate is what " + strings.Repeat("w", 2048)
	if got := failureOf(t, exited(1, "Error", log)); strings.Contains(got, "S3CRET") || !strings.HasPrefix(got, "exit code 1: is what www") {
		t.Errorf("got %q", got)
	}
	if got := failureOf(t, exited(1, "Error", strings.Repeat("S3CRET", 400))); got != "exit code 1" {
		t.Errorf("of one word it says %q", got)
	}
}

// TestASecretIsTakenOutBeforeTheTextIsCut: half a password is one too.
func TestASecretIsTakenOutBeforeTheTextIsCut(t *testing.T) {
	for filling := 400; filling < 500; filling++ {
		got := failureOf(t, exited(1, "Error", strings.Repeat("f", filling)+" rabbit://user:"+strings.Repeat("S3CRET", 30)+"@host"))
		if strings.Contains(got, "S3") || strings.Contains(got, "user") {
			t.Fatalf("after %d characters: %q", filling, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range [][2]string{{"rabbit://designate:", "@host"}, {"a\x1b[", "\u202e"}, {"a\x1b[0", ""}, {"token:", "x"}, {"secret='", "'"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, setting := range []string{" password=S3CRET ", " password = S3CRET ", "connection: S3CRET "} {
			got := clean(before + setting + after)
			if strings.Contains(got, "S3CRET") && !strings.Contains(before+after, "S3CRET") {
				t.Errorf("%q holds the secret", got)
			}
			for _, r := range got {
				if !unicode.IsPrint(r) {
					t.Errorf("%q is not printable", got)
				}
			}
		}
	})
}
