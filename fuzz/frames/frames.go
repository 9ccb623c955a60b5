package frames

import "hash/fnv"

// Panic panics with a text. The same id gives the same frames.
func Panic(id, text string) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash does not fail
	sum := h.Sum32()
	outer[sum>>4&15](sum&15, text)
}

var outer = [16]func(uint32, string){findingA, findingB, findingC, findingD, findingE, findingF, findingG, findingH, findingI, findingJ, findingK, findingL, findingM, findingN, findingO, findingP}

var inner = [16]func(string){ofA, ofB, ofC, ofD, ofE, ofF, ofG, ofH, ofI, ofJ, ofK, ofL, ofM, ofN, ofO, ofP}

//go:noinline
func findingA(i uint32, text string) { inner[i](text) }

//go:noinline
func findingB(i uint32, text string) { inner[i](text) }

//go:noinline
func findingC(i uint32, text string) { inner[i](text) }

//go:noinline
func findingD(i uint32, text string) { inner[i](text) }

//go:noinline
func findingE(i uint32, text string) { inner[i](text) }

//go:noinline
func findingF(i uint32, text string) { inner[i](text) }

//go:noinline
func findingG(i uint32, text string) { inner[i](text) }

//go:noinline
func findingH(i uint32, text string) { inner[i](text) }

//go:noinline
func findingI(i uint32, text string) { inner[i](text) }

//go:noinline
func findingJ(i uint32, text string) { inner[i](text) }

//go:noinline
func findingK(i uint32, text string) { inner[i](text) }

//go:noinline
func findingL(i uint32, text string) { inner[i](text) }

//go:noinline
func findingM(i uint32, text string) { inner[i](text) }

//go:noinline
func findingN(i uint32, text string) { inner[i](text) }

//go:noinline
func findingO(i uint32, text string) { inner[i](text) }

//go:noinline
func findingP(i uint32, text string) { inner[i](text) }

//go:noinline
func ofA(text string) { panic(text) }

//go:noinline
func ofB(text string) { panic(text) }

//go:noinline
func ofC(text string) { panic(text) }

//go:noinline
func ofD(text string) { panic(text) }

//go:noinline
func ofE(text string) { panic(text) }

//go:noinline
func ofF(text string) { panic(text) }

//go:noinline
func ofG(text string) { panic(text) }

//go:noinline
func ofH(text string) { panic(text) }

//go:noinline
func ofI(text string) { panic(text) }

//go:noinline
func ofJ(text string) { panic(text) }

//go:noinline
func ofK(text string) { panic(text) }

//go:noinline
func ofL(text string) { panic(text) }

//go:noinline
func ofM(text string) { panic(text) }

//go:noinline
func ofN(text string) { panic(text) }

//go:noinline
func ofO(text string) { panic(text) }

//go:noinline
func ofP(text string) { panic(text) }
