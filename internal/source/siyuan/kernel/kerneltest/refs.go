package kerneltest

import "strings"

// retarget turns the references to one block in text into references to another; the anchors stay.
func retarget(text, from, to string) string {
	return strings.ReplaceAll(text, "(("+from, "(("+to)
}

// refersTo lists the references of a leaf: its block refs, and the block an embedded query names.
func refersTo(b *block) []span {
	var found []span
	if b.kind == kindEmbed {
		return append(found, span{target: embedTarget(b.text)})
	}
	for _, s := range spansOf(b.text) {
		if s.kind == "block-ref" {
			found = append(found, s)
		}
	}
	return found
}

// redefined notes that the text of b changed, for the anchors that show it.
func (k *Kernel) redefined(b *block) {
	if k.changedDefs == nil {
		k.changedDefs = map[string]bool{}
	}
	k.changedDefs[b.id] = true
}

// refreshAnchors gives dynamic anchors, ((id 'text')), the present text of definitions that changed. The kernel does
// this when it flushes.
func (k *Kernel) refreshAnchors() {
	changed := k.changedDefs
	k.changedDefs = nil
	if len(changed) == 0 {
		return
	}
	for _, b := range k.blocks {
		if !strings.Contains(b.text, "((") {
			continue
		}
		for _, s := range refersTo(b) {
			target := k.blocks[s.target]
			if s.subtype != "d" || target == nil || !changed[s.target] {
				continue
			}
			fresh := "((" + s.target + " '" + strings.ReplaceAll(strings.TrimSpace(contentOf(target)), "'", "’") + "'))"
			if fresh != s.markdown {
				b.text = strings.ReplaceAll(b.text, s.markdown, fresh)
			}
		}
	}
}

// referrers lists the blocks that refer to one of ids, in no order.
func (k *Kernel) referrers(ids map[string]bool) []*block {
	var found []*block
	for _, b := range k.blocks {
		for _, s := range refersTo(b) {
			if ids[s.target] && k.openBlock(b.id) != nil {
				found = append(found, b)
				break
			}
		}
	}
	return found
}
