package v1alpha1

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Decimal is a number without the rounding of floats: an integer or a decimal string, such as 97 or "97.5".
//
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,6})?$`
// +kubebuilder:validation:MaxLength=16
type Decimal intstr.IntOrString

// UnmarshalJSON reads an integer or a string.
func (d *Decimal) UnmarshalJSON(b []byte) error {
	return (*intstr.IntOrString)(d).UnmarshalJSON(b)
}

// MarshalJSON writes an integer or a string, as it was read.
func (d Decimal) MarshalJSON() ([]byte, error) {
	return intstr.IntOrString(d).MarshalJSON()
}

// Float returns the value of d as a float. If d is nil or not a number, Float returns its argument. The schema refuses a text that is not
// a number.
func (d *Decimal) Float(otherwise float64) float64 {
	if d == nil {
		return otherwise
	}
	s := (*intstr.IntOrString)(d)
	if s.Type == intstr.Int {
		return float64(s.IntVal)
	}
	f, err := strconv.ParseFloat(s.StrVal, 64)
	if err != nil {
		return otherwise
	}
	return f
}

// ToDecimal returns the Decimal of a text such as "97.5".
func ToDecimal(s string) *Decimal {
	d := Decimal(intstr.FromString(s))
	return &d
}
