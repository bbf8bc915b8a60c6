package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		headers := http.Header{}
		for index, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			headers.Set(name, fields[index])
		}
		body, err := base64.StdEncoding.DecodeString(fields[3])
		if err == nil {
			err = VerifyWebhook(body, headers, strings.Split(fields[4], " "))
		}
		if err == nil {
			fmt.Println("accepted")
		} else {
			fmt.Println(err)
		}
	}
}
