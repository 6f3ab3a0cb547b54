package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/samplesrun"
)

// verdict is the outcome of one campaign.
type verdict struct {
	sample, campaign string
	ready            string // reason of the condition Ready
	conclusive       string // status and reason of the condition Conclusive
	duration         time.Duration
}

type runner struct {
	client.Client
	out   io.Writer
	pause time.Duration // between two reads of a campaign
}

// run creates the objects of a sample in a new namespace and waits until each of its campaigns has finished.
func (r runner) run(ctx context.Context, sample string, objects []*unstructured.Unstructured) ([]verdict, error) {
	if err := r.remove(ctx, sample); err != nil {
		return nil, fmt.Errorf("an earlier run: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   samplesrun.Namespace(sample),
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := r.Create(ctx, namespace); err != nil {
		return nil, err
	}
	var campaigns []client.ObjectKey
	for _, object := range objects {
		if err := r.Create(ctx, object, client.FieldValidation("Strict")); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if object.GetKind() == "BenchmarkCampaign" {
			campaigns = append(campaigns, client.ObjectKeyFromObject(object))
		}
	}
	var verdicts []verdict
	began := time.Now()
	for _, key := range campaigns { // campaigns that share nodes run in turn, so waiting in this order takes no extra time
		v, err := r.wait(ctx, key)
		if err != nil {
			return verdicts, fmt.Errorf("campaign %s: %w", key.Name, err)
		}
		v.sample, v.duration = sample, time.Since(began)
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// wait returns when the campaign has finished. It prints the message of Ready whenever it changes.
func (r runner) wait(ctx context.Context, key client.ObjectKey) (verdict, error) {
	ticker := time.NewTicker(r.pause)
	defer ticker.Stop()
	last := ""
	for {
		var c v1alpha1.BenchmarkCampaign
		if err := r.Get(ctx, key, &c); err != nil && ctx.Err() == nil {
			return verdict{}, err
		}
		if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
			if text := ready.Reason + ": " + ready.Message; text != last {
				last = text
				fmt.Fprintf(r.out, "%s  %s  %s\n", time.Now().UTC().Format(time.TimeOnly), key.Name, text)
			}
			switch ready.Status {
			case metav1.ConditionTrue:
				return verdict{campaign: key.Name, ready: ready.Reason, conclusive: conclusive(c)}, nil
			case metav1.ConditionFalse:
				return verdict{}, fmt.Errorf("%s", last)
			}
		}
		select {
		case <-ctx.Done():
			return verdict{}, fmt.Errorf("%w; Ready: %s", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

func conclusive(c v1alpha1.BenchmarkCampaign) string {
	found := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionConclusive)
	if found == nil {
		return "none"
	}
	return string(found.Status) + "/" + found.Reason
}

// remove deletes the namespace of a sample and returns when it no longer exists.
func (r runner) remove(ctx context.Context, sample string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: samplesrun.Namespace(sample)}}
	ticker := time.NewTicker(r.pause)
	defer ticker.Stop()
	for {
		err := r.Delete(ctx, namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil && !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("namespace %s still exists: %w", namespace.Name, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

func printVerdicts(out io.Writer, verdicts []verdict) {
	const row = "%-18s %-24s %-12s %-44s %6s\n"
	fmt.Fprintf(out, "\n"+row, "sample", "campaign", "ready", "conclusive", "s")
	for _, v := range verdicts {
		fmt.Fprintf(out, row, v.sample, v.campaign, v.ready, v.conclusive, fmt.Sprintf("%.0f", v.duration.Seconds()))
	}
}
