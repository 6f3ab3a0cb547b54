package simulatedfaults

import (
	"context"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// Calls returns the calls of a manager that reconciles a campaign whenever a simulated cluster is settled, as verbs and kinds. A test
// compares them with the calls in a real cluster.
func Calls(ctx context.Context, campaign *wrappers.Campaign, trial func(record.Config) *corev1.PodStatus) ([]string, error) {
	r := start(&scenario{campaign: campaign.Namespace(namespace), trial: trial, slow: true})
	if err := r.drive(ctx, func() bool { return false }); err != nil {
		return nil, err
	}
	var out []string
	last := call{}
	for _, p := range r.points {
		if p.at.nth > 0 && p.at != last {
			out = append(out, VerbAndKind(p.at.what))
		}
		last = p.at
	}
	return out, nil
}

// VerbAndKind returns the beginning of the name of a call, up to the kind.
func VerbAndKind(what string) string {
	var out []string
	for word := range strings.FieldsSeq(what) {
		out = append(out, word)
		if unicode.IsUpper(rune(word[0])) {
			break
		}
	}
	return strings.Join(out, " ")
}
