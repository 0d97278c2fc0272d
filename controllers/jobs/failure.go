package jobs

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// failureLimit bounds what a condition says of a failure, in characters.
	failureLimit = 500
	// lastLines is how much of the end of a log it says.
	lastLines = 3
	// logTail is how much of the end of a log the kubelet keeps, in bytes. The first line of so much may be the end of one.
	logTail = 2048
)

// failure says why a Job failed.
func failure(failed *batchv1.JobCondition, pods []corev1.Pod) string {
	var parts []string
	if failed.Reason != batchv1.JobReasonBackoffLimitExceeded {
		// That reason only says that the pod failed, and none is tried twice.
		parts = append(parts, named(failed.Reason, failed.Message))
	}
	for i := range pods {
		parts = append(parts, podFailure(&pods[i])...)
	}
	if len(parts) == 0 {
		parts = append(parts, named(failed.Reason, failed.Message))
	}
	return clipped(strings.Join(parts, "; "), failureLimit)
}

// podFailure says what is known of how a pod failed. It may be of no help: the Job has ended whatever this says.
func podFailure(pod *corev1.Pod) []string {
	var parts []string
	if pod.Status.Reason != "" {
		parts = append(parts, named(pod.Status.Reason, pod.Status.Message))
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			parts = append(parts, named(condition.Reason, condition.Message))
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil && ended.ExitCode != 0 {
			parts = append(parts, containerFailure(ended))
		}
	}
	return parts
}

func containerFailure(ended *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", ended.ExitCode)
	if ended.Reason != "" && ended.Reason != "Error" {
		text += " (" + ended.Reason + ")"
	}
	if end := endOfLog(ended.Message); end != "" {
		text += ": " + end
	}
	return text
}

// endOfLog is the last lines of a log that are not empty, without secrets. When they are too long, the last one counts.
func endOfLog(log string) string {
	if len(log) >= logTail {
		log = withoutFirstWord(log)
	}
	var lines []string
	for line := range strings.Lines(log) {
		if line = clean(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	lines = lines[max(0, len(lines)-lastLines):]
	const limit = failureLimit - len("exit code 255 (ContainerCannotRun): ")
	text := clipped(lines[len(lines)-1], limit)
	for _, line := range slices.Backward(lines[:len(lines)-1]) {
		longer := line + " | " + text
		if len([]rune(longer)) > limit {
			break
		}
		text = longer
	}
	return text
}

// withoutFirstWord drops what may be the second half of something, such as of an address with a password.
func withoutFirstWord(log string) string {
	at := strings.IndexFunc(log, unicode.IsSpace)
	if at < 0 {
		return ""
	}
	return log[at:]
}

// named is a reason with what is said about it.
func named(reason, message string) string {
	reason, message = clean(reason), clean(message)
	if message == "" {
		return reason
	}
	return reason + ": " + message
}

// clipped is the beginning of a text, of so many characters at most.
func clipped(text string, limit int) string {
	characters := []rune(text)
	if len(characters) <= limit {
		return text
	}
	return string(characters[:limit-1]) + "…"
}
