package solve

// quirk names one way in which servers differ. Each is a line of the table
// below, and the evaluation asks for it by name: the table predicts values.
type quirk uint8

const (
	// emptyStringWarns: a string without anything numeric in it, the empty
	// string too, warns when it is read as a number.
	emptyStringWarns quirk = iota
	// spacesWarn: spaces behind the number in a string give a note.
	spacesWarn
	// divisionKeepsWords: an intermediate quotient keeps all digits of its
	// nine-digit words; otherwise it is rounded to its declared scale at once.
	divisionKeepsWords
	// branchKeepsScale: IF and CASE are printed as the chosen branch is printed
	// on its own, not at the scale of the result type.
	branchKeepsScale
	// setSeesOld: an UPDATE's SET list reads the row as it was before the
	// statement, not values assigned to its left.
	setSeesOld
	// firstFloatStays: a branch of FLOAT followed by one of BIGINT makes a FLOAT;
	// in the other order, they make a DOUBLE.
	firstFloatStays
	// minMaxByText: GREATEST and LEAST of a text and a number compare texts;
	// otherwise they compare doubles.
	minMaxByText
	// branchCasts: IF, CASE and IFNULL cast the chosen value to their type.
	branchCasts
	// coalesceKeepsScale: COALESCE gives an exact number as it is, without
	// padding to the scale of the result type.
	coalesceKeepsScale
	// silentText: a string out of COALESCE or IFNULL is read as a number
	// without a warning.
	silentText
	// plainDoubles: a double is turned into text without an exponent.
	plainDoubles
	// noNegativeZero: a double of minus zero is printed as 0.
	noNegativeZero
	// shiftBy32: a shift count is cut to 32 bits.
	shiftBy32
	// inComparesBits: IN with a list that is not constant, or holds other types
	// too, compares integers of different signedness by their bits.
	inComparesBits
	// deleteIsLenient: conversions in a DELETE only warn.
	deleteIsLenient
	// updateLenience: whether a conversion in an UPDATE's WHERE is an error
	// depends on how the rows are found.
	updateLenience
	// mixedIsDecimal: branches of signed and unsigned integers make a decimal
	// whatever their width.
	mixedIsDecimal
	// whereFirst: an UPDATE tests all rows before it computes any.
	whereFirst
	// hashJoinClips: a join of an integer with a decimal clips the integer.
	hashJoinClips
	// updateCasts: an UPDATE's values go through CAST, so that a bad string is
	// error 1292; elsewhere it is 1366.
	updateCasts
	// badNumbersAlike: a string that begins with a number is the same error
	// for a DECIMAL or DOUBLE column as one without a number.
	badNumbersAlike
	// nullIsDouble: arithmetic with the literal NULL has the type double.
	nullIsDouble
	// zeroMinusLeast: 0 - (-2^63) gives -2^63 instead of error 1690.
	zeroMinusLeast
	// leastDivFails: -2^63 DIV 1 is error 1690.
	leastDivFails
	// zeroProduct: a product of zero is stored in a string as 0, without the
	// digits behind the point.
	zeroProduct
	// bitsOfDecimal: bit operators read a string or double as a decimal and
	// round half away from zero; otherwise a string's integer prefix counts.
	bitsOfDecimal
	// negativeCastsClip: CAST AS UNSIGNED of a negative double is 0.
	negativeCastsClip
	// negativeDecimalClips: CAST AS UNSIGNED of a negative decimal is 0.
	negativeDecimalClips
	// signedZero: the sign of a decimal of zero survives % and / in print.
	signedZero
	// emptyFilterFails: a text of nothing but spaces as a whole condition of a
	// write is an error, other than anywhere else: EvalBool in
	// pkg/expression/expression.go reads it by types.StrToFloat without isFuncCast.
	emptyFilterFails
	// betweenStops: BETWEEN does not look at the upper bound of a value below
	// the lower one.
	betweenStops
	// castOverflowUnsure: an overflowing CAST AS DECIMAL gives another value
	// inside other functions than alone.
	castOverflowUnsure
	// hugeLiteralRefined: an integer column compared with an unsigned literal
	// beyond its range loses its NULL.
	hugeLiteralRefined
	// xorByInt: XOR reads its operands as integers.
	xorByInt
	// mulRawBits: a product with an unsigned operand multiplies 64-bit patterns.
	mulRawBits
	// compareRounds: a comparison rounds decimals to their declared scale.
	compareRounds
	// constUnsure: whether a literal string compared with a number is an error
	// in a write depends on the other side.
	constUnsure
	// keyLosesText: a join that looks an integer key up by text truncates it.
	keyLosesText
	// castTextRounds: arithmetic on CAST AS CHAR is printed without fraction.
	castTextRounds
	// defaultsFirst: a missing value without a default (1364) is found before
	// the given values are looked at.
	defaultsFirst
	// nullsLast: a NULL in a NOT NULL column of an INSERT is found behind
	// missing defaults and bad values.
	nullsLast
	// insertConvertsAll: an INSERT converts all rows before it writes one.
	insertConvertsAll
	// textDivUnsure: DIV reads a column of text otherwise than a literal.
	textDivUnsure
	// padTrims: a padding collation cuts trailing spaces off, so that a text is
	// less than itself with a control character behind it.
	padTrims
	// blobsAreSilent: a TEXT or BLOB column is read as a number without a warning.
	blobsAreSilent
	// bitStrings: the bit operators work on binary strings as such.
	bitStrings
	// zeroSum: a difference or remainder of zero is stored in a string as 0.
	zeroSum
	// textMeetsIntExactly: an integer and a string compare as decimals.
	textMeetsIntExactly
	// divIs1366: a bad string operand of DIV is error 1366.
	divIs1366
	// zeroByteEnds: a zero byte directly behind the number in a string ends it
	// without a warning: getValidFloatPrefix in pkg/types/convert.go cuts there.
	zeroByteEnds
	// readsDays: date functions read numbers and texts as dates by known rules.
	readsDays
	// fuzzyDays: a number up to 100 is read as a date of the year 2000 without a
	// month, of which YEAR, QUARTER, MONTH and DAY give what there is.
	fuzzyDays
	// comparesMoments: a date or time compares with a number that is not constant as
	// the double that its digits make.
	comparesMoments
	// comparesAsMoments: what is compared with a date or time is read as one.
	comparesAsMoments
	// timesAsText: a TIME is compared with a text as a text.
	timesAsText
	// timesClip: a number beyond any time is the longest time also where its minutes
	// or seconds are none.
	timesClip
	// chosenTimesLoseSign: a TIME out of a branch is read as an integer without its
	// sign, as a decimal or double with it.
	chosenTimesLoseSign
	// wideScale: decimals keep 38 digits behind the point, otherwise 30.
	wideScale
	// ignoresDesc: DESC in a key is read and ignored.
	ignoresDesc
	// membersAreInts: ENUM and SET are integers in arithmetic, otherwise doubles.
	membersAreInts
	// bitsAreSigned: a BIT(64) read as a double is a signed number, and so is an
	// unsigned one that is computed of constants in a condition.
	bitsAreSigned
	// signedMoments: arithmetic of a date or time with an unsigned number is
	// signed.
	signedMoments
	// negationIsDouble: the negation of a date or time is a double.
	negationIsDouble
	// floatsGrow: a FLOAT is stored in a CHAR, VARCHAR or BINARY with the digits of
	// a double.
	floatsGrow
	// joinsWidenBits: a join on a BIT converts the other side to it, with errors.
	joinsWidenBits
	// datesCut: the literals of an IN on a DATE are cut to dates, which fails in
	// strict writes.
	datesCut
	// roundsByDouble: ROUND of an integer to a number of digits goes by a double.
	roundsByDouble
	// branchesCountBits: NULLIF of a BIT, and a branch beside integers, is a number.
	branchesCountBits
	// pointCasts: an UPDATE that looks its rows up by a unique key casts a value
	// before it converts it for the column.
	pointCasts
	// copiesOverflow: in INSERT … SELECT and ON DUPLICATE KEY UPDATE a value that
	// does not fit its column is error 1690; elsewhere it is 1264.
	copiesOverflow
	// zerosEqual: an UPDATE from zero to minus zero, or back, changes nothing.
	zerosEqual
	// computedRestUnseen: where DIV or CAST wants a decimal, what stands behind the
	// number in a text that a function made goes without warning or error.
	computedRestUnseen
	// conditionByInt: a computed decimal or double that is a WHERE, ON or HAVING
	// as a whole is rounded to an integer before it is held against zero.
	conditionByInt
	// bothUnsigned: + - * / of decimals is unsigned where both operands are.
	bothUnsigned
	// unsignedFails: a difference of unsigned decimals below zero is error 1690.
	unsignedFails
	// branchesKeepUnsigned: branches, ROUND and TRUNCATE of unsigned decimals are
	// unsigned.
	branchesKeepUnsigned
	// replaceStops: REPLACE of the empty string may not see that the replacement is NULL.
	replaceStops
	// countsUnseen: COUNT does not evaluate what cannot be NULL.
	countsUnseen
	// minMaxKeyByText: MIN and MAX of an indexed text go to the end of the index
	// where a condition on it holds, with the number that it is compared with taken
	// for a text.
	minMaxKeyByText
	// roundedIsLong: the text of FLOOR and CEIL of a double has no exponent.
	roundedIsLong
	// firstCollation: REPLACE has the collation of its first argument alone.
	firstCollation
	// padFirstCollation: so have LPAD and RPAD.
	padFirstCollation
	// nullifMovesCollation: NULLIF of a literal text beside a column has the
	// column's collation with the literal's standing.
	nullifMovesCollation
	// nullifCutsConstant: a constant in NULLIF beside a column of another type may
	// be put into that type.
	nullifCutsConstant
	// branchKeepsInt: an integer out of IF or CASE beside a double is a whole one
	// to the bit operators.
	branchKeepsInt
	// greatestKeepsInt: GREATEST and LEAST of an integer beside a double compare whole
	// numbers for the bit operators.
	greatestKeepsInt
	// emptiedIsSilent: a TEXT or BLOB to which an UPDATE has assigned the empty
	// string is read as a double without a warning.
	emptiedIsSilent
	// yearIsUnsigned: YEAR() is unsigned in arithmetic, and a year beside a date.
	yearIsUnsigned
	// leastProductUnsure: a product of -2^63 may be error 1690.
	leastProductUnsure
	// caseReadsMoments: CASE, IN and BETWEEN compare some types with a date or time
	// otherwise than = does.
	caseReadsMoments
	// binaryCase: CASE compares texts as bytes where a result is a binary string.
	binaryCase
	// binarySearchUnsure: LOCATE in a binary string finds other rows in a condition than in a
	// select list.
	binarySearchUnsure
	// momentQuotient: the negation of a date or time has no digits behind the
	// point, and a quotient of it four.
	momentQuotient
	// chosenDatesAreText: a DATE out of IF, CASE, IFNULL, COALESCE or NULLIF is
	// stored in a number by way of its text, which fails.
	chosenDatesAreText
	// longSubstring: SUBSTRING is empty where position and length overflow.
	longSubstring
	// negatesConstants: the negation of a constant integer below zero, or beyond the
	// signed range, is a decimal.
	negatesConstants
	// negatesLiterals: so is that of a literal, as in -(-1).
	negatesLiterals
	// nullBoundIsDouble: BETWEEN with the literal NULL as a bound compares integers
	// as doubles.
	nullBoundIsDouble
	// bitsClip: the bits of a number out of range are those of the nearest in range.
	bitsClip
	// computedDoublesFail: a computed double out of the range of a BIGINT is error
	// 1690 where an integer is wanted.
	computedDoublesFail
	// quotientIsDecimal: DIV of other than integers makes a decimal, and fails in a
	// strict write as its conversion to an integer does.
	quotientIsDecimal
	// minusZeroFails: an unsigned DIV of whole decimals is out of range where it is
	// zero and one operand is negative.
	minusZeroFails
	// minusZeroUnsure: such a DIV may fail, of decimals that are not whole too.
	minusZeroUnsure
	// productDropsWords: the fraction of a product of decimals is stored in a string
	// without words of nine digits that are zero.
	productDropsWords
	// greatestTakesLast: GREATEST takes the last of equal numbers, LEAST the first.
	greatestTakesLast
	// datesOverflowApart: a DATE behind the year 9999 has an error of its own.
	datesOverflowApart
	// keepsNegativeZero takes noNegativeZero back.
	keepsNegativeZero
	quirks
)

// quirkSet is a set of quirks.
type quirkSet [2]uint64

func (s quirkSet) has(q quirk) bool { return s[q/64]&(1<<(q%64)) != 0 }

func (s quirkSet) with(q quirk) quirkSet {
	s[q/64] |= 1 << (q % 64)
	return s
}

func (s quirkSet) without(q quirk) quirkSet {
	s[q/64] &^= 1 << (q % 64)
	return s
}

func (d Dialect) is(q quirk) bool { return d.quirks.has(q) }

func (d Dialect) maxScale() int {
	if d.is(wideScale) {
		return 38
	}
	return 30
}
