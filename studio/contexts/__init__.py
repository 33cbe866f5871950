"""Sample contexts: the data that templates are tried with, as forms, as JSON, and at one of their rounds."""
