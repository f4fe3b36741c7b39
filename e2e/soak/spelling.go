package soak

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"idem/e2e/envoytest"
)

// arguments are the order's members in JSON, in one of many spellings that mean the same.
func (o *order) arguments(r *rand.Rand, more ...string) string {
	customer := o.customer
	if r.IntN(2) == 0 {
		customer = strings.ToUpper(customer)
	}
	amount := fmt.Sprintf([...]string{`"$%d.%02d"`, `"%d.%02d USD"`, `%d.%02d`, `"%d.%02d"`}[r.IntN(4)], o.cents/100, o.cents%100)
	members := append([]string{
		fmt.Sprintf(`"customer":%q`, customer), `"amount":` + amount,
		fmt.Sprintf(`"currency":%q`, [...]string{"usd", "USD"}[r.IntN(2)]), fmt.Sprintf(`"order":%q`, o.id),
	}, more...)
	return `{` + shuffled(r, members) + `}`
}

func shuffled(r *rand.Rand, members []string) string {
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return strings.Join(members, [...]string{",", ", ", " ,\n"}[r.IntN(3)])
}

// wrapped is a body with tool and args, and something that changes from try to try.
func wrapped(r *rand.Rand, arguments string) string {
	return `{` + shuffled(r, []string{`"tool":"refund"`, `"args":` + arguments, fmt.Sprintf(`"request_id":"%x"`, r.Uint64())}) + `}`
}

func writeJSON(o *order, r *rand.Rand, run string) envoytest.Call {
	return envoytest.Call{Path: o.kind.path, Run: run, Body: wrapped(r, o.arguments(r))}
}

func writeLarge(o *order, r *rand.Rand, run string) envoytest.Call {
	blob := strings.Repeat("x", 20_000+o.cents*4)
	return envoytest.Call{Path: o.kind.path, Run: run, Body: wrapped(r, o.arguments(r, `"blob":"`+blob+`"`))}
}

func writeForm(o *order, r *rand.Rand, run string) envoytest.Call {
	members := []string{
		"customer=" + url.QueryEscape(o.customer), fmt.Sprintf("amount=%d.%02d", o.cents/100, o.cents%100), "currency=USD", "order=" + o.id,
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return envoytest.Call{Path: o.kind.path, Run: run, Type: "application/x-www-form-urlencoded", Body: strings.Join(members, "&")}
}

func writeDelete(o *order, _ *rand.Rand, run string) envoytest.Call {
	return envoytest.Call{Method: http.MethodDelete, Path: o.kind.path + o.id, Run: run, Type: "-"}
}
