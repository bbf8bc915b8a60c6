import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Verify {
    /** {@code body} has the bytes as they arrived, the names of {@code headers} are in lower case, and
     *  {@code secrets} has two during a rotation. Throws if the webhook is not genuine. */
    static void verifyWebhook(byte[] body, Map<String, String> headers, List<String> secrets)
            throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        String[] signatures = headers.getOrDefault("webhook-signature", "").split(" ");
        if (!timestamp.matches("\\d{1,12}")
                || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) {
            throw new GeneralSecurityException("the timestamp is too far off");
        }
        for (String secret : secrets) {
            byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes());
            byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
            for (String given : signatures) {
                if (MessageDigest.isEqual(given.getBytes(), expected)) {
                    return;
                }
            }
        }
        throw new GeneralSecurityException("no signature matches");
    }
}
