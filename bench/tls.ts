// The identity of the servers that speak TLS: for 127.0.0.1 only, and trusted by nobody else.

import { fileURLToPath } from "node:url";

export const CERTIFICATE = pathOf("certificate.pem");
export const KEY = pathOf("key.pem");

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../test/fixtures/tls/${name}`, import.meta.url));
}
