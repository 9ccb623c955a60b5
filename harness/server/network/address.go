package network

import "strconv"

// Everybody matches the addresses of all places, as MySQL spells the hosts of users; Range has them in the form of RFC
// 4632.
const (
	Everybody = "10.77.0.%"
	Range     = "10.77.0.0/24"
)

// Address is where others of its network reach a place, which is numbered from 0.
func Address(place int) string { return "10.77.0." + strconv.Itoa(place+1) }
