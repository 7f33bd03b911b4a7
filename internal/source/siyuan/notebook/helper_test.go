package notebook_test

func quoted(id string) string { return `"` + id + `"` }

// on is the arguments for an action on a notebook, with more members after it.
func on(more string) func(string) string {
	if more != "" {
		more = "," + more
	}
	return func(id string) string { return `{"notebook":` + quoted(id) + more + `}` }
}
