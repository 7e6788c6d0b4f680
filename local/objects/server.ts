// The little of S3 that a bucket of reports needs: objects are put whole, and read whole.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
import { startHttpServer } from "../http-server.ts";
import type { HttpServer, Listening } from "../http-server.ts";

/** One request; `key` is bucket and key. */
type Seen = { method: string; key: string };

export type ObjectServer = HttpServer<Seen, never> & {
  /** What was put last, by bucket and key. */
  objects: ReadonlyMap<string, string>;
  /** As somebody in the console may. */
  put: (key: string, body: string) => void;
};

/** @throws when the port is taken */
export async function startObjects(options: Listening = {}): Promise<ObjectServer> {
  const objects = new Map<string, string>();
  const server = await startHttpServer<Seen>({
    ...options,
    about: "A bucket on this machine. Read an object: curl URL/BUCKET/KEY",
    read({ method, url, body }) {
      const key = decodeURIComponent(url.split("?", 1)[0]?.slice(1) ?? "");
      return {
        seen: { method, key },
        apply() {
          if (method === "PUT") {
            objects.set(key, body.toString());
            return { status: 200, headers: { etag: '"local"' }, body: "" };
          }
          const object = method === "GET" ? objects.get(key) : undefined;
          if (object !== undefined) {
            return { status: 200, headers: { "content-type": "application/json" }, body: object };
          }
          const code = method === "GET" ? "NoSuchKey" : "NotImplemented";
          return {
            status: method === "GET" ? 404 : 501,
            headers: { "content-type": "application/xml" },
            body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Key>${key}</Key></Error>`,
          };
        },
      };
    },
  });
  return { ...server, objects, put: (key, body) => void objects.set(key, body) };
}
