package children

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// RetryInterval is how long Knee waits before it retries an action that only a change outside the campaign can make possible.
// Such a change may cause no event.
const RetryInterval = 10 * time.Second

// Errors that only a change outside the campaign can resolve.
var (
	// ErrNameConflict means that an object with this name exists and does not belong to the campaign.
	ErrNameConflict = errors.New("name is taken")
	// ErrRefused means that an object that the spec requires does not exist, or that the API server rejects an object.
	ErrRefused = errors.New("spec cannot be satisfied")
	// ErrForbidden means that a quota, an admission policy or a role has to change.
	ErrForbidden = errors.New("forbidden by the API server")
	// ErrOperatorMissing means that the API server does not serve the kind of an operator that the spec requires.
	ErrOperatorMissing = errors.New("the opensearch-k8s-operator is not installed")
	// errTerminating means that the namespace is being deleted; the campaign is deleted with its namespace.
	errTerminating = errors.New("the namespace is being deleted")
)

// refusals lists the errors that stall a campaign, with the reason of the condition Ready.
var refusals = []struct {
	err    error
	reason string
}{
	{ErrNameConflict, v1alpha1.ReasonNameConflict},
	{ErrRefused, v1alpha1.ReasonInvalidSpec},
	{ErrForbidden, v1alpha1.ReasonForbidden},
	{ErrOperatorMissing, v1alpha1.ReasonOperatorMissing},
}

// ReasonOf returns the reason of the condition Ready for an error that stalls a campaign. It returns false for other errors.
func ReasonOf(err error) (reason string, stalls bool) {
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return r.reason, true
		}
	}
	return "", false
}

// NeedsUserAction reports whether only a change outside the campaign can resolve err. Such a change may cause no event.
func NeedsUserAction(err error) bool {
	_, stalls := ReasonOf(err)
	return stalls || errors.Is(err, errTerminating)
}

// ClassifyError wraps err in one of the errors above if the API server refused the object. It returns other errors (a timeout,
// a conflict, an overloaded server) unchanged; they are retried soon.
func ClassifyError(err error, object string) error {
	switch {
	case err == nil || NeedsUserAction(err):
		return err
	case isNamespaceTerminating(err):
		return fmt.Errorf("%w: %s: %w", errTerminating, object, err)
	case isDenied(err):
		return fmt.Errorf("%w: %s: %w; Knee tries again every %s", ErrForbidden, object, err, RetryInterval)
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return fmt.Errorf("%w: the API server rejects %s: %w", ErrRefused, object, err)
	}
	return err
}

// isNamespaceTerminating reports whether the API server rejected an object because its namespace is being deleted or does not
// exist.
func isNamespaceTerminating(err error) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

// isDenied reports whether err is a refusal by a quota, a role, pod security, or an admission webhook or policy. Webhooks and
// policies deny with any status code, so isDenied has to search the message of the API server.
func isDenied(err error) bool {
	if apierrors.IsForbidden(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	message := status.Status().Message
	return strings.Contains(message, "denied the request") || // texts from k8s.io/apiserver, admission/plugin/webhook/errors
		strings.HasPrefix(message, "admission webhook") && strings.Contains(message, "denied") ||
		strings.Contains(message, "ValidatingAdmissionPolicy") && strings.Contains(message, "denied request")
}

// IgnoreConflict returns nil for a conflict error. A conflict means that the object has changed, and the event of that change
// causes the next Reconcile.
func IgnoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
