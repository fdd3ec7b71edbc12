"use strict";
const target = document.getElementById("reference");
window.ui = SwaggerUIBundle({
  url: new URL(target.dataset.document, location.href).href,
  domNode: target,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // Syntax highlighting takes seconds when many responses are open.
  syntaxHighlight: { activated: false },
  persistAuthorization: false,
  // With credentials the browser would show its password dialog at a 401.
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
});
