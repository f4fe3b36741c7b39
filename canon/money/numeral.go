package money

// numeral finds the decimal mark of a folded number: its index, or -1 where the number is whole. The number starts and
// ends with a digit, and no two of its separators touch. points says that the currency has three decimals, so that a
// point before three digits is read as the decimal mark.
func numeral(number []byte, points bool) (int, Reason) {
	var count struct{ point, comma, apostrophe, space int }
	last := -1
	for i, c := range number {
		switch c {
		case '.':
			count.point++
			last = i
		case ',':
			count.comma++
			last = i
		case '\'':
			count.apostrophe++
		case ' ':
			count.space++
		}
	}
	marks, gaps := count.point+count.comma, count.apostrophe+count.space
	switch {
	case marks+gaps == 0:
		return -1, Read
	case gaps > 0: // 1 234,56 and 1'234.56: what groups is no decimal mark, so the other one is
		group := byte(' ')
		if count.apostrophe > 0 {
			group = '\''
		}
		whole := number
		if last >= 0 {
			whole = number[:last]
		}
		if marks > 1 || !grouped(whole, group) {
			return 0, Misgrouped
		}
		return last, Read
	case count.point > 0 && count.comma > 0: // 1.234,56 and 1,234.56: the last one is the decimal mark
		group, decimals := byte('.'), count.comma
		if number[last] == '.' {
			group, decimals = ',', count.point
		}
		if decimals > 1 || !grouped(number[:last], group) {
			return 0, Misgrouped
		}
		return last, Read
	case marks > 1: // 1.234.567: a decimal mark does not repeat
		if !grouped(number, number[last]) {
			return 0, Misgrouped
		}
		return -1, Read
	}
	three := len(number)-last-1 == 3 && last <= 3 && number[0] != '0'
	if three && !(points && number[last] == '.') {
		return 0, Ambiguous
	}
	return last, Read
}

// grouped reports whether group stands in number, and nothing else but digits, as it groups a whole number: every three
// digits, or, with a comma, in the Indian way, three and then every two. No group starts a number with 0.
func grouped(number []byte, group byte) bool {
	if len(number) == 0 || number[0] == '0' {
		return false
	}
	first, middle, groups, width := 0, 0, 0, 0 // middle: the width of the groups between the first and the last
	for _, c := range number {
		if isDigit(c) {
			width++
			continue
		}
		if c != group {
			return false
		}
		switch {
		case groups == 0:
			first = width
		case middle == 0:
			middle = width
		case middle != width:
			return false
		}
		groups++
		width = 0
	}
	switch {
	case groups == 0 || width != 3:
		return false
	case middle == 2:
		return group == ',' && first <= 2
	default:
		return first <= 3 && (middle == 0 || middle == 3)
	}
}
