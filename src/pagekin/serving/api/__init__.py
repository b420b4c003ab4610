"""The JSON API: endpoints, their OpenAPI document, and a page that documents them."""
