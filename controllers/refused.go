package controllers

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var (
	// errNameConflict says that an object of the name is there and is not this campaign's.
	errNameConflict = errors.New("name is taken")
	// errRefused says that what the spec asks for cannot be: trying again will not help until it is mended.
	errRefused = errors.New("the spec asks for what cannot be")
	// errForbidden says that the API server does not let an object be made: a quota, an admission policy or a role has to
	// change.
	errForbidden = errors.New("the API server forbids what is needed")
	// errOperatorMissing says that the API server does not know the kind of an operator that the spec asks for.
	errOperatorMissing = errors.New("the opensearch-k8s-operator is not installed")
	// errTerminating says that the namespace is going, and the campaign with it.
	errTerminating = errors.New("the namespace is being deleted")
)

// mended tells the errors that a person has to mend outside the campaign, which gives no event.
func mended(err error) bool {
	return errors.Is(err, errNameConflict) || errors.Is(err, errRefused) || errors.Is(err, errForbidden) || errors.Is(err, errOperatorMissing) || errors.Is(err, errTerminating)
}

// refusal says what kind of trouble an error of the API server is, about what it names. What is not a refusal (a
// timeout, a conflict, an overloaded server) stays as it is: it is tried again soon.
func refusal(err error, what string) error {
	switch {
	case err == nil || mended(err):
		return err
	case terminating(err):
		return fmt.Errorf("%w: %s: %w", errTerminating, what, err)
	case denied(err):
		return fmt.Errorf("%w: %s: %w; it is tried again every %s", errForbidden, what, err, troubleWake)
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return fmt.Errorf("%w: the API server refuses %s: %w", errRefused, what, err)
	}
	return err
}

// terminating tells that nothing can be made in a namespace that is going or gone.
func terminating(err error) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

// denied tells a refusal by a quota, by a role, by pod security, or by an admission webhook or policy, whose denials
// come with any code.
func denied(err error) bool {
	if apierrors.IsForbidden(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	message := status.Status().Message
	return strings.Contains(message, "denied the request") || // k8s.io/apiserver, admission/plugin/webhook/errors
		strings.HasPrefix(message, "admission webhook") && strings.Contains(message, "denied") ||
		strings.Contains(message, "ValidatingAdmissionPolicy") && strings.Contains(message, "denied request")
}
