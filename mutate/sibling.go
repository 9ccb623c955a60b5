package mutate

// Siblings is how many inputs Sibling tells apart.
const Siblings = seedsPerSchema

// Sibling returns the i-th of the seeds, i below Siblings, whose inputs have the
// schema lane of a seed's and share nothing else.
func Sibling(seed uint64, i int) uint64 { return seed - seed%Siblings + uint64(i)%Siblings }

// InSchemaLane says whether a byte of an input is one of the schema lane.
func InSchemaLane(at int) bool {
	if at >= InputLen {
		at -= featureLen
	} else if at >= PlainLen {
		return false // the feature lane
	}
	at %= blockLen
	return at >= widths[PlanLane] && at < widths[PlanLane]+widths[SchemaLane]
}
