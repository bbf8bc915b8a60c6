package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// VerifyWebhook takes the bytes as they arrived, and two secrets during a rotation.
func VerifyWebhook(body []byte, headers http.Header, secrets []string) error {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	signatures := strings.Split(headers.Get("webhook-signature"), " ")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return errors.New("the timestamp is too far off")
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range signatures {
			if hmac.Equal([]byte(given), []byte(expected)) {
				return nil
			}
		}
	}
	return errors.New("no signature matches")
}
