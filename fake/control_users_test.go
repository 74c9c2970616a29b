package fakeapi_test

import (
	"encoding/pem"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The control API adds and expires tokens and issues certificates.
func TestControlUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newControlClient(t, fakeapi.WithTokens(annToken), fakeapi.WithClientCA())
		accepts := func(token string) bool {
			_, err := whoami(t, r.srv.RESTConfigWithToken(token))
			return err == nil
		}
		r.call(204, "POST", "tokens", "bob-1,bob,team-b\n")
		user, err := whoami(t, r.srv.RESTConfigWithToken("bob-1"))
		require.NoError(t, err)
		require.Equal(t, []string{"team-b", "system:authenticated"}, user.Groups)
		r.call(204, "POST", "tokens/expire", "bob-1")
		require.False(t, accepts("bob-1"))
		r.call(204, "POST", "tokens?expiresIn=1h", "bob-2,bob")
		require.True(t, accepts("bob-2"))
		time.Sleep(time.Hour)
		require.False(t, accepts("bob-2"))

		text := r.call(201, "POST", "certificates?expiresIn=1h", "carol,team-c")
		cert, key := pem.Decode([]byte(text))
		config := r.srv.RESTConfigWithToken("")
		config.CertData, config.KeyData = pem.EncodeToMemory(cert), key
		user, err = whoami(t, config)
		require.NoError(t, err)
		require.Equal(t, "carol", user.Username)
		time.Sleep(time.Hour + time.Second)
		_, err = whoami(t, config)
		require.Error(t, err)

		for _, wrong := range [][2]string{
			{"tokens", "bob-1"}, {"tokens", ",bob"}, {"tokens?expiresIn=x", "a,b"}, {"tokens?expiresIn=-1s", "a,b"},
			{"tokens/expire", "unknown-token"}, {"certificates", ""}, {"certificates?expiresIn=0s", "a"},
		} {
			r.call(400, "POST", wrong[0], wrong[1])
		}
	})
	open := newControlClient(t)
	require.Contains(t, open.call(400, "POST", "tokens", "a,b"), "does not authenticate")
	require.Contains(t, open.call(400, "POST", "certificates", "a"), "does not authenticate client certificates")
}
