package supervisor

import (
	"os"
	"strings"
)

// maxLog is the size in bytes above which a log is renamed at the next start.
const maxLog = 16 << 20

func openLog(file string) (*os.File, error) {
	if info, err := os.Stat(file); err == nil && info.Size() > maxLog {
		if err := os.Rename(file, file+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// Tail returns the last lines of a log file, for an error message.
func Tail(file string, lines int) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 64 << 10
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, min(info.Size(), most))
	if _, err := f.ReadAt(data, info.Size()-int64(len(data))); err != nil {
		return ""
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	all = all[max(0, len(all)-lines):]
	return "; the end of its log:\n    " + strings.Join(all, "\n    ")
}
