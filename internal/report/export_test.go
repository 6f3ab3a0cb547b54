package report

// HTML is report.html of a campaign, finished or not.
func HTML(in Input) string {
	rows := attempts(in)
	return page(in, rows, len(split(resultsCSV(in, rows))))
}
