package search

import "collie/internal/source/siyuan/kernel"

// ungroup takes hits out of the groups of their documents. What is in no group stays as it is.
func ungroup(found []kernel.Found) (hits []kernel.Found, documents map[kernel.ID]kernel.Found) {
	documents = map[kernel.ID]kernel.Found{}
	for _, f := range found {
		if len(f.Children) == 0 {
			hits = append(hits, f)
			continue
		}
		hits = append(hits, f.Children...)
		f.Children = nil
		documents[f.ID] = f
	}
	return hits, documents
}

// regroup puts hits below their documents again, in the order of the hits.
func regroup(hits []kernel.Found, documents map[kernel.ID]kernel.Found) []kernel.Found {
	var out []kernel.Found
	at := map[kernel.ID]int{}
	for _, h := range hits {
		document, grouped := documents[h.Root]
		if !grouped {
			out = append(out, h)
			continue
		}
		i, begun := at[h.Root]
		if !begun {
			i, at[h.Root] = len(out), len(out)
			out = append(out, document)
		}
		out[i].Children = append(out[i].Children, h)
	}
	return out
}
