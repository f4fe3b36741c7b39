package exchange

import "testing"

func TestCredentialsInTheQueryAreNotShown(t *testing.T) {
	for target, want := range map[string]string{
		"/pay":                                 "/pay",
		"/pay?":                                "/pay?",
		"/pay?b=2&a=1":                         "/pay?b=2&a=1",
		"/pay?access_token=x&a=1":              "/pay?access_token=…&a=1",
		"/pay?a=1&API_Key=x%26y&key=":          "/pay?a=1&API_Key=…&key=",
		"/pay?X-Amz-Signature=1=2&apikey=x":    "/pay?X-Amz-Signature=…&apikey=…",
		"/pay?%61pi_%6bey=x&tokens=3&monkey=1": "/pay?%61pi_%6bey=…&tokens=3&monkey=…",
	} {
		if got := shownPath(target); got != want {
			t.Errorf("%s is shown as %s, want %s", target, got, want)
		}
	}
}
