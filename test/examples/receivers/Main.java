import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Scanner;

final class Main {
    public static void main(String[] args) {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String[] fields = lines.nextLine().split("\t", -1);
            Map<String, String> headers = Map.of(
                    "webhook-id", fields[0], "webhook-timestamp", fields[1], "webhook-signature", fields[2]);
            try {
                Verify.verifyWebhook(Base64.getDecoder().decode(fields[3]), headers, List.of(fields[4].split(" ")));
                System.out.println("accepted");
            } catch (GeneralSecurityException error) {
                System.out.println(error.getMessage());
            }
        }
    }
}
