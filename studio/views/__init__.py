"""Pages: each view is a form, one call, a template."""
