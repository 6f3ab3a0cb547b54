package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// checkRequired returns an error if the JSON of a record lacks a field that a reader needs. Encode always writes the fields whose
// tags have neither omitempty nor omitzero: without such a field, the record is damaged, or another program wrote it. A part that is
// optional may be missing as a whole.
func checkRequired(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	if path := missingField(reflect.TypeFor[Record](), value, ""); path != "" {
		return errLacks(path)
	}
	return nil
}

func errLacks(path string) error {
	return fmt.Errorf("the record lacks its field %s (or the field is null): it is damaged, or another version of Knee wrote it", path)
}

// checkResult returns an error if a record says neither what was measured nor why nothing was measured.
func checkResult(r Record) error {
	if r.Ingest == nil && r.Load == nil && r.Error == nil {
		return errors.New("the record has none of the fields ingest, load and error: it is damaged, or another version of Knee wrote it")
	}
	return nil
}

// missingField returns the path of the first required field of a type that a JSON value lacks. It returns an empty text if no field is
// missing. Values of a wrong type have no missing fields: to decode them is an error.
func missingField(t reflect.Type, value any, path string) string {
	switch t.Kind() {
	case reflect.Pointer:
		if value != nil {
			return missingField(t.Elem(), value, path)
		}
	case reflect.Slice:
		list, _ := value.([]any)
		for i, element := range list {
			if missing := missingField(t.Elem(), element, join(path, strconv.Itoa(i))); missing != "" {
				return missing
			}
		}
	case reflect.Struct:
		if object, ok := value.(map[string]any); ok {
			return missingFieldOfStruct(t, object, path)
		}
	}
	return ""
}

func missingFieldOfStruct(t reflect.Type, object map[string]any, path string) string {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			if missing := missingFieldOfStruct(field.Type, object, path); missing != "" {
				return missing
			}
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value := object[name]
		if value == nil && options == "" {
			return join(path, name)
		}
		if missing := missingField(field.Type, value, join(path, name)); missing != "" {
			return missing
		}
	}
	return ""
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
