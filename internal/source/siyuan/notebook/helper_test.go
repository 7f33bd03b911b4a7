package notebook_test

func quoted(id string) string { return `"` + id + `"` }

// on returns a function that returns the arguments for an action on a notebook, with more members after its id.
func on(more string) func(string) string {
	if more != "" {
		more = "," + more
	}
	return func(id string) string { return `{"notebook":` + quoted(id) + more + `}` }
}
