package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
)

// CacheOptions keep in the manager's memory only what Knee made, of one namespace if one is named. What a campaign
// names and did not make (a ConfigMap, a claim) is therefore read from the API server, never from the cache.
func CacheOptions(namespace string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy})}
	o := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&appsv1.StatefulSet{}: ours, &batchv1.Job{}: ours, &corev1.ConfigMap{}: ours, &corev1.Pod{}: ours,
		&corev1.Service{}: ours, &corev1.PersistentVolumeClaim{}: ours, &networkingv1.NetworkPolicy{}: ours,
	}}
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}
