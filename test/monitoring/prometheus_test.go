package monitoring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/test/loopback"
)

// prometheus is a running Prometheus.
type prometheus struct {
	url    string
	client *http.Client
}

// serviceMonitor has the parts of config/prometheus/service_monitor.yaml that tell Prometheus how to scrape.
type serviceMonitor struct {
	Spec struct {
		Endpoints []struct {
			Scheme      string `json:"scheme"`
			HonorLabels bool   `json:"honorLabels"`
			TLSConfig   struct {
				InsecureSkipVerify bool `json:"insecureSkipVerify"`
			} `json:"tlsConfig"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// startPrometheus starts Prometheus with the rules and with the settings of the ServiceMonitor.
func startPrometheus(t *testing.T, e environment) prometheus {
	t.Helper()
	var monitor serviceMonitor
	text, err := os.ReadFile("../../config/prometheus/service_monitor.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &monitor)
	}
	if err != nil || len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("service_monitor.yaml has %d endpoints, want 1 (error %v)", len(monitor.Spec.Endpoints), err)
	}
	rules, err := filepath.Abs("../../config/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := monitor.Spec.Endpoints[0]
	type object = map[string]any
	config, err := yaml.Marshal(object{
		"global":     object{"scrape_interval": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{rules},
		"scrape_configs": []object{{
			"job_name": "knee-metrics", "scheme": endpoint.Scheme, "honor_labels": endpoint.HonorLabels,
			"authorization": object{"credentials_file": e.token},
			"tls_config":    object{"insecure_skip_verify": endpoint.TLSConfig.InsecureSkipVerify},
			// The prometheus-operator gives each target the namespace of the Service as a label.
			"static_configs": []object{{"targets": []string{e.metrics}, "labels": object{"namespace": "knee-system"}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	address := loopback.Address()
	program(t, "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p := prometheus{url: "http://" + address, client: &http.Client{Transport: transport}}
	eventually(t, "Prometheus has the manager's metrics", func() error {
		n, err := p.query("count(knee_campaigns)")
		return errors.Join(err, atLeastOne(n))
	})
	return p
}

// get calls the HTTP API of Prometheus and decodes its data.
func (p prometheus) get(path string, params url.Values, data any) error {
	response, err := p.client.Get(p.url + "/api/v1/" + path + "?" + params.Encode())
	if err != nil {
		return err
	}
	defer response.Body.Close()
	reply := struct {
		Data  any    `json:"data"`
		Error string `json:"error"`
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	return nil
}

// sample is an element of the result of a query.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // time and value
}

// query returns the samples of an expression whose value is a number. It leaves out NaN, which a quantile of nothing gives.
func (p prometheus) query(expression string) ([]sample, error) {
	var data struct {
		Result []sample `json:"result"`
	}
	if err := p.get("query", url.Values{"query": {expression}}, &data); err != nil {
		return nil, fmt.Errorf("query %s: %w", expression, err)
	}
	var out []sample
	for _, s := range data.Result {
		if value, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64); err == nil && !math.IsNaN(value) {
			out = append(out, s)
		}
	}
	return out, nil
}

func atLeastOne(samples []sample) error {
	if len(samples) == 0 {
		return errors.New("no data")
	}
	return nil
}

// alertState is an alert of the HTTP API.
type alertState struct {
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
}

// alerts returns the alerts that are pending or firing, such as "KneeNodesIdle kept".
func (p prometheus) alerts() ([]string, error) {
	var data struct {
		Alerts []alertState `json:"alerts"`
	}
	if err := p.get("alerts", nil, &data); err != nil {
		return nil, err
	}
	var out []string
	for _, a := range data.Alerts {
		out = append(out, strings.TrimSpace(a.Labels["alertname"]+" "+a.Labels["campaign"]))
	}
	return out, nil
}
