// A real browser: the machine's own Chromium.
import { existsSync } from "node:fs";

import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * Resolves another name to this machine too, as a hostile site can.
 *
 * @throws Error when there is no browser
 */
export function launch(): Promise<Browser> {
  const executablePath = [process.env["CHROMIUM"] ?? "", ...KNOWN].find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      `There is no Chromium: run "npm run browser-suite:install", or name one in CHROMIUM.`,
    );
  }
  // Gray text makes smaller pictures.
  const args = ["--host-resolver-rules=MAP evil.example 127.0.0.1", "--disable-lcd-text"];
  return chromium.launch({ executablePath, args });
}
