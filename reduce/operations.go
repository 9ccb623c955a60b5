package reduce

// candidate is one operation on a draft.
type candidate struct {
	arm arm
	// id names the operation by what it does to which text, so that it can be
	// recognised after other operations have moved lines.
	id string
	// make returns nil where the operation does not apply.
	make func() *draft
}

// candidates lists the operations of a layer on a draft.
func candidates(d *draft, l layer) []candidate {
	var out []candidate
	for _, p := range producers {
		if p.layer == l {
			out = append(out, p.list(d)...)
		}
	}
	return append(out, variantCandidates(d, l)...)
}

// producers list the operations that concern a whole draft.
var producers = []struct {
	layer layer
	list  func(*draft) []candidate
}{
	{layerStatements, statementCandidates},
	{layerStatements, endingCandidates},
	{layerClauses, columnCandidates},
	{layerClauses, wideRowCandidates},
	{layerClauses, mergeCandidates},
	{layerConstants, constantCandidates},
	{layerOrder, moveCandidates},
	{layerOrder, levelCandidates},
	{layerNames, nameCandidates},
	{layerNames, renumberCandidates},
}

// variantCandidates lists the operations that concern one line.
func variantCandidates(d *draft, l layer) []candidate {
	var out []candidate
	for i, st := range d.init {
		for _, v := range st.explore(l) {
			out = append(out, candidate{v.arm, "0 " + st.text + "\n" + v.text, func() *draft {
				if to := d.lib.read(v.text); to != nil {
					return d.replaceInit(i, to)
				}
				return nil
			}})
		}
	}
	for i, e := range d.steps {
		for _, v := range e.st.explore(l) {
			out = append(out, candidate{v.arm, e.st.text + "\n" + v.text, func() *draft {
				if to := d.lib.read(v.text); to != nil {
					return d.replaceStep(i, to)
				}
				return nil
			}})
		}
	}
	return out
}
