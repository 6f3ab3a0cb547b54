package parser

import "strings"

// Expand replaces $(NAME) in a text by the value of NAME. It does not replace placeholders inside values. If NAME is not
// known, $(NAME) is not changed. $$(NAME) becomes $(NAME). Any other $ has no special meaning, because no shell is used.
func Expand(text string, values map[string]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, isName := placeholder(after)
		literal, isLiteral := placeholder(strings.TrimPrefix(after, "$"))
		value, known := values[name]
		switch {
		case isName && known:
			out.WriteString(value)
			text = after[len(name)+2:]
		case strings.HasPrefix(after, "$") && isLiteral:
			out.WriteString("$(" + literal + ")")
			text = after[len(literal)+3:]
		default:
			out.WriteByte('$')
			text = after
		}
	}
}

// placeholder returns NAME from a text that begins with (NAME).
func placeholder(text string) (string, bool) {
	if !strings.HasPrefix(text, "(") {
		return "", false
	}
	name, _, closed := strings.Cut(text[1:], ")")
	if !closed || name == "" || strings.ContainsAny(name, "($ \t\n") {
		return "", false
	}
	return name, true
}
